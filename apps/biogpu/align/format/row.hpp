#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "lib/align/align.hpp"

namespace biogpu::app {

// One alignment with all that a format may print. Views: the unit keeps the text.
struct Row {
  std::string_view query_name;
  std::string_view target_name;
  std::string_view query;  // residues as aligned: of the reverse strand where `reverse` is set
  std::string_view target;
  std::string_view quality;       // of the query as read; empty for none
  std::uint64_t query_index = 0;  // records before it in its file
  std::uint64_t target_index = 0;
  bool reverse = false;
  const align::Alignment* alignment = nullptr;
  std::span<const std::uint32_t> path;  // empty where none was computed or nothing is aligned
  double bits = 0;    // where the format wants them and parameters are known, else NaN
  double evalue = 0;  // the same
};

inline std::uint64_t run_length(std::uint32_t run) { return run >> 4; }
inline std::uint32_t run_operation(std::uint32_t run) { return run & 15; }

// A path cut down to what SAM, PAF and BLAST show: without gaps on free ends.
struct AlignedPart {
  std::uint64_t query_begin = 0;  // of the strand aligned
  std::uint64_t query_end = 0;    // half-open
  std::uint64_t target_begin = 0;
  std::uint64_t target_end = 0;
  std::span<const std::uint32_t> path;
};
AlignedPart aligned_part(const Row& row, const align::Options& options);

// Whether a path has a column of two residues.
bool has_columns(std::span<const std::uint32_t> path);

struct ColumnCounts {
  std::uint64_t matches = 0;
  std::uint64_t mismatches = 0;
  std::uint64_t gaps = 0;       // columns of a residue and a gap
  std::uint64_t gap_opens = 0;  // runs of them
  std::uint64_t columns() const { return matches + mismatches + gaps; }
};
ColumnCounts count_columns(std::span<const std::uint32_t> path);

// Gaps that the score pays for. A free gap at an end may go on from one that is paid.
struct PaidGaps {
  std::uint64_t columns = 0;
  std::uint64_t opens = 0;
};
PaidGaps paid_gaps(const Row& row, const align::Options& options);

// A local alignment of score 0 aligns nothing.
bool nothing_aligned(const align::Alignment& alignment, const align::Options& options);

enum class CigarStyle { distinct, merged };  // '=' and 'X', or 'M' for both

void append_number(std::string& out, std::int64_t number);
// "*" for an empty path.
void append_cigar(std::string& out, std::span<const std::uint32_t> path, CigarStyle style);
// As BLAST prints them; "*" for NaN.
void append_bits(std::string& out, double bits);
void append_evalue(std::string& out, double evalue);

}  // namespace biogpu::app
