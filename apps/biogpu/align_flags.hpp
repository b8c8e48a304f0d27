#pragma once

#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "apps/biogpu/shared_flags.hpp"
#include "lib/align/align.hpp"
#include "lib/io/sequence_batch.hpp"

namespace biogpu::app {

enum class Alphabet { automatic, dna, protein };
enum class RowFormat { tsv, sam };

// The options of `biogpu align` as they were given.
struct AlignFlags {
  SharedFlags shared;
  std::string query_path;
  std::string target_path;
  std::string out_path = "-";
  std::string mode;
  std::string output = "cigar";
  std::string format;  // empty: by the suffix of out_path
  std::string matrix;  // empty: match and mismatch
  bool pairs = false;
  Alphabet alphabet = Alphabet::automatic;
  std::optional<int> match;
  std::optional<int> mismatch;
  std::optional<int> gap_open;
  std::optional<int> gap_extend;
  std::string gap_model = "parasail";

  // Throws Error{usage} where options contradict each other. Calls shared.resolve().
  void resolve();
  RowFormat row_format() const;
  // What the scoring options imply; automatic when they leave it open.
  Alphabet stated_alphabet() const;
};

void add_align_flags(CLI::App& command, AlignFlags& flags);

// DNA when at least nine letters of ten are A, C, G, T, U or N; so is a batch without any letter.
Alphabet guess_alphabet(const io::SequenceBatch& batch);

// alphabet: dna or protein.
align::Options make_options(const AlignFlags& flags, Alphabet alphabet);

// One line for the log: "dna, match 2, mismatch -3, gap open 5, extend 2".
std::string describe_scoring(const AlignFlags& flags, Alphabet alphabet);

}  // namespace biogpu::app
