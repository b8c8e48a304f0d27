#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lib/bio/genome/genes/gene_annotation.hpp"
#include "lib/bio/genome/indexed_fasta.hpp"

namespace biogpu::genome {

// Polyadenylation sites of genes, of a BED file with six columns, separated by tabs, plain or
// compressed: chromosome, start, end, gene_id, anything, strand. Versions of gene_id do not count.
// Lines of sequences that the genome does not have are passed over, unless it has none of them.
//
// Errors: Error{bad_input} with file and line for what is malformed or leaves its sequence; those
// of LineReader.
class PolyaTable {
 public:
  PolyaTable(const std::string& path, const IndexedFasta& genome);

  std::uint64_t size() const { return n_sites_; }
  std::uint64_t n_lines_elsewhere() const { return n_lines_elsewhere_; }
  // Of a gene on its strand of its contig, in the order of the file.
  std::vector<Span> sites_of(const AnnotatedGene& gene) const;

 private:
  struct Site {
    std::size_t contig = 0;
    char strand = '+';
    Span span;
  };
  std::unordered_map<std::string, std::vector<Site>> sites_;  // by gene_id without version
  std::uint64_t n_sites_ = 0;
  std::uint64_t n_lines_elsewhere_ = 0;
};

}  // namespace biogpu::genome
