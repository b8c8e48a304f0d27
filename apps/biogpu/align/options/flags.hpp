#pragma once

#include <optional>
#include <string>

#include "apps/biogpu/align/compute/compute.hpp"
#include "apps/biogpu/align/format/rows.hpp"
#include "apps/biogpu/command_line/shared_options.hpp"
#include "lib/align/align.hpp"
#include "lib/align/scoring/substitution_matrices.hpp"
#include "lib/io/shard.hpp"

namespace CLI {
class App;
}

namespace biogpu::app {

enum class Alphabet { automatic, dna, protein };

// The options of `biogpu align` as they were given.
struct AlignFlags {
  SharedFlags shared;
  std::string query_path;
  std::string target_path;
  std::string mode;
  bool pairs = false;
  bool self = false;
  std::optional<Strand> strand;  // none: as searched_strands() says
  io::Shard shard;               // of the queries

  std::string preset;
  Alphabet alphabet = Alphabet::automatic;
  bool rna = false;  // U is the letter T
  std::optional<int> match;
  std::optional<int> mismatch;
  std::string matrix;  // name or file; empty: none given
  std::optional<int> gap_open;
  std::optional<int> gap_extend;
  std::string gap_model = "parasail";
  std::optional<std::int64_t> band;
  std::optional<std::int32_t> xdrop;

  std::optional<std::uint32_t> top;
  std::optional<std::int32_t> min_score;
  std::optional<double> max_evalue;

  std::string out_path = "-";
  std::string format;   // empty: by the suffix of out_path
  std::string output;   // empty: what format and columns need
  std::string columns;  // empty: the default ones
  CigarStyle cigar = CigarStyle::distinct;

  // After resolve().
  std::optional<align::SubstitutionMatrix> loaded_matrix;  // of `matrix`
  RowFormat row_format = RowFormat::tsv;
  align::Output output_level = align::Output::cigar;
  Columns column_list;  // empty: the default ones

  // Reads the matrix and fills in the fields above. Throws Error{usage} where options contradict
  // each other, and the errors of align::read_matrix(). Calls shared.resolve().
  void resolve();
  Pairing pairing() const;
  // DNA is searched on both strands where every query meets every target.
  Strand searched_strands(Alphabet actual) const;
  Selection selection(Alphabet actual) const;
};

void add_align_flags(CLI::App& command, AlignFlags& flags);

}  // namespace biogpu::app
