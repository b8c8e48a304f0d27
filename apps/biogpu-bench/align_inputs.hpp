#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lib/align/align.hpp"

namespace biogpu::bench {

// Sequences and pairs that own their memory.
struct PairSet {
  std::vector<std::uint8_t> query_residues, target_residues;
  std::vector<std::uint64_t> query_begin{0}, target_begin{0};
  std::vector<align::Pair> pairs;

  align::SequenceSet queries() const { return {query_residues, query_begin}; }
  align::SequenceSet targets() const { return {target_residues, target_begin}; }
  align::Work work() const { return {queries(), targets(), pairs}; }
  align::Work first(std::size_t n) const {
    return {queries(), targets(), std::span(pairs).first(std::min(n, pairs.size()))};
  }
};

// n pairs of nucleotides: a query of `length` residues against itself with one residue in `every`
// changed, inserted or deleted, cut or filled to the same length. Fixed seed.
PairSet mutated_pairs(std::size_t n, std::size_t length, int every);

// The pairs as lines "query <tab> target" in a file.
void write_letters(const PairSet& pairs, const std::string& path);

// n such pairs of lengths from `shortest` to `longest`, each as likely on a logarithmic scale.
PairSet unequal_pairs(std::size_t n, std::size_t shortest, std::size_t longest, int every);

// The lengths of CUDASW++'s 20 standard queries as queries, and n random targets of `length`, all
// of the 20 amino acids as blosum62_scoring numbers them. No pairs.
PairSet protein_sets(std::size_t n_targets, std::size_t length, bool few_queries);

// The same with targets whose lengths spread as those of a proteome: log-normal, median 294.
PairSet unequal_protein_sets(std::size_t n_targets, bool few_queries);

// All sequences of two files, in the classes of `scoring`. No pairs.
PairSet read_protein_sets(const std::string& queries, const std::string& targets,
                          const align::Scoring& scoring);

}  // namespace biogpu::bench
