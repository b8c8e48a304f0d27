#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apps/biogpu/align/format/row.hpp"

namespace biogpu::app {

enum class ColumnId {
  query,
  target,
  query_index,
  target_index,
  query_length,
  target_length,
  score,
  strand,
  query_begin,
  query_end,
  target_begin,
  target_end,
  matches,
  mismatches,
  similar,
  length,
  gaps,
  gap_opens,
  identity,
  bits,
  evalue,
  cigar,
};

// One column of the TSV output.
struct Column {
  ColumnId id;
  const char* name;
  align::Output needs;  // the least that must be computed for it
  const char* meaning;  // a phrase for the documentation
};

using Columns = std::vector<const Column*>;

std::span<const Column> all_columns();
// The columns named in a list as "query,score".
// Throws Error{usage} for an unknown name.
Columns parse_columns(std::string_view list);
Columns default_columns(align::Output output, bool strands, bool significance);
align::Output output_needed(const Columns& columns);
bool wants_significance(const Columns& columns);

std::string tsv_header(const Columns& columns);
// Positions are 0-based and half-open, on the forward strand of both sequences.
void append_tsv(std::string& out, const Row& row, const Columns& columns,
                const align::Options& options, CigarStyle cigar);

}  // namespace biogpu::app
