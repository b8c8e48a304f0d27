#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/biogpu/align/format/held_read.hpp"
#include "apps/biogpu/align/format/homology_graph.hpp"
#include "apps/biogpu/align/format/letter_rule.hpp"
#include "apps/biogpu/align/format/sam.hpp"
#include "apps/biogpu/align/format/tsv.hpp"
#include "apps/biogpu/align/input/encode.hpp"
#include "apps/biogpu/align/input/units.hpp"
#include "lib/align/e_value.hpp"

namespace biogpu::app {

enum class RowFormat {
  tsv,
  sam,
  bam,  // or CRAM: records, which io::SamWriter turns into bytes
  paf,
  blast6,
  csv,
  emboss,
  ssw,
  parasail_sam,
  parasail_edges,
};

// All that decides how rows are printed; the same for every unit of a run.
struct RowStyle {
  RowFormat format = RowFormat::tsv;
  align::Options options;
  align::Output output = align::Output::cigar;  // what the rows hold
  Columns columns;                              // RowFormat::tsv
  CigarStyle cigar = CigarStyle::distinct;
  bool tells_strand = false;  // RowFormat::csv: rows may be of the reverse strand
  LetterRule letters;
  bool from_zero = false;  // append_ssw()
  EdgeRule edges;          // RowFormat::parasail_edges
  // Bits and E-values are filled in where the format prints them.
  std::optional<align::KarlinAltschul> parameters;
  std::optional<align::Database> database;                     // empty: each target by itself
  std::vector<std::pair<std::string, std::uint64_t>> targets;  // RowFormat::sam: as in the header
  io::SamLetters seq_letters;                                  // RowFormat::sam and ::bam
  std::string out_path;                                        // RowFormat::sam: for messages

  bool wants_significance() const;
};

// The output of one unit, made by the worker so that the writer only copies bytes.
struct Rows {
  std::string text;
  std::vector<io::SamRecord> records;  // RowFormat::bam; views into the unit and into store
  SamStore store;
  // Lines of SAM and records of a read that units before this one have rows of too, or units after
  // it. They come before and after the others.
  std::vector<HeldRow> held_before;
  std::vector<HeldRow> held_after;
  bool ends_read_before = false;      // no later unit has rows of it
  std::uint64_t n_rows = 0;           // those held left out
  std::vector<Edge> edges;            // RowFormat::parasail_edges, besides their text
  std::vector<std::uint32_t> marked;  // paths marked by letters
};

// An aligned unit. pairs[i].query is a sequence of `queries`; alignments.rows[i] is its row.
struct AlignedUnit {
  const WorkUnit& unit;
  const EncodedQueries& queries;
  std::span<const align::Pair> pairs;
  const align::Alignments& alignments;
};

// One row per pair, in order. Of SAM: of each read one primary line, the first of the best score,
// and lines with FLAG 256 for its other places; where it has no place, or no pair, one line that
// says so.
void make_rows(const AlignedUnit& aligned, const RowStyle& style, Rows& rows);

}  // namespace biogpu::app
