#include "apps/biogpu/align/format/tsv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>

#include "apps/biogpu/command_line/list_option.hpp"
#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"

namespace biogpu::app {
namespace {

using align::Options;
using align::Output;

// Inclusive to half-open; a local alignment of nothing stays 0.
std::int64_t past_end(const Row& row, const Options& options, std::int32_t end) {
  return std::int64_t{end} + (nothing_aligned(*row.alignment, options) ? 0 : 1);
}

std::int64_t query_length(const Row& row) { return std::ssize(row.query); }

std::int64_t query_begin(const Row& row, const Options& options) {
  if (!row.reverse || nothing_aligned(*row.alignment, options)) return row.alignment->query_begin;
  return query_length(row) - past_end(row, options, row.alignment->query_end);
}

std::int64_t query_end(const Row& row, const Options& options) {
  if (!row.reverse || nothing_aligned(*row.alignment, options))
    return past_end(row, options, row.alignment->query_end);
  return query_length(row) - row.alignment->query_begin;
}

void append_percent(std::string& out, std::int64_t part, std::int64_t whole) {
  const double percent =
      whole > 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 0;
  fmt::format_to(std::back_inserter(out), "{:.2f}", percent);
}

constexpr Column kColumns[] = {
    {ColumnId::query, "query", Output::score, "name up to the first white space"},
    {ColumnId::target, "target", Output::score, "the same"},
    {ColumnId::query_index, "query_index", Output::score, "records before it in its file"},
    {ColumnId::target_index, "target_index", Output::score, "the same"},
    {ColumnId::query_length, "query_length", Output::score, "residues"},
    {ColumnId::target_length, "target_length", Output::score, "residues"},
    {ColumnId::score, "score", Output::score, ""},
    {ColumnId::strand, "strand", Output::score, "of the query: + as given, - reverse complement"},
    {ColumnId::query_begin, "query_begin", Output::cigar, "first aligned residue, from 0"},
    {ColumnId::query_end, "query_end", Output::ends, "one past the last"},
    {ColumnId::target_begin, "target_begin", Output::cigar, "first aligned residue, from 0"},
    {ColumnId::target_end, "target_end", Output::ends, "one past the last"},
    {ColumnId::matches, "matches", Output::statistics, "columns of two equal residues"},
    {ColumnId::mismatches, "mismatches", Output::cigar, "columns of two different residues"},
    {ColumnId::similar, "similar", Output::statistics, "columns of two residues scoring above 0"},
    {ColumnId::length, "length", Output::statistics, "columns, end gaps left out"},
    {ColumnId::gaps, "gaps", Output::cigar, "columns of a residue and a gap"},
    {ColumnId::gap_opens, "gap_opens", Output::cigar, "gaps"},
    {ColumnId::identity, "identity", Output::statistics, "percentage of matches in length"},
    {ColumnId::bits, "bits", Output::score, "bit score; * where no parameters are published"},
    {ColumnId::evalue, "evalue", Output::score,
     "alignments as good expected by chance; * the same"},
    {ColumnId::cigar, "cigar", Output::cigar, "path; * where nothing is aligned"},
};

const Column* find_column(std::string_view name) {
  const auto* found = std::find_if(std::begin(kColumns), std::end(kColumns),
                                   [&](const Column& column) { return column.name == name; });
  return found == std::end(kColumns) ? nullptr : found;
}

void append_value(std::string& out, ColumnId id, const Row& row, const Options& options,
                  CigarStyle cigar) {
  const align::Alignment& a = *row.alignment;
  const auto number = [&](auto value) { append_number(out, static_cast<std::int64_t>(value)); };
  switch (id) {
    case ColumnId::query:
      out += row.query_name;
      break;
    case ColumnId::target:
      out += row.target_name;
      break;
    case ColumnId::query_index:
      number(row.query_index);
      break;
    case ColumnId::target_index:
      number(row.target_index);
      break;
    case ColumnId::query_length:
      number(row.query.size());
      break;
    case ColumnId::target_length:
      number(row.target.size());
      break;
    case ColumnId::score:
      number(a.score);
      break;
    case ColumnId::strand:
      out.push_back(row.reverse ? '-' : '+');
      break;
    case ColumnId::query_begin:
      number(query_begin(row, options));
      break;
    case ColumnId::query_end:
      number(query_end(row, options));
      break;
    case ColumnId::target_begin:
      number(a.target_begin);
      break;
    case ColumnId::target_end:
      number(past_end(row, options, a.target_end));
      break;
    case ColumnId::matches:
      number(a.matches);
      break;
    case ColumnId::mismatches:
      number(count_columns(row.path).mismatches);
      break;
    case ColumnId::similar:
      number(a.similar);
      break;
    case ColumnId::length:
      number(a.length);
      break;
    case ColumnId::gaps:
      number(paid_gaps(row, options).columns);
      break;
    case ColumnId::gap_opens:
      number(paid_gaps(row, options).opens);
      break;
    case ColumnId::identity:
      append_percent(out, a.matches, a.length);
      break;
    case ColumnId::bits:
      append_bits(out, row.bits);
      break;
    case ColumnId::evalue:
      append_evalue(out, row.evalue);
      break;
    case ColumnId::cigar:
      append_cigar(out, row.path, cigar);
      break;
  }
}

}  // namespace

std::span<const Column> all_columns() { return kColumns; }

Columns parse_columns(std::string_view list) {
  Columns columns;
  for (const std::string& name : split_list("--columns", list)) {
    const Column* column = find_column(name);
    if (column == nullptr) {
      std::string known;
      for (const Column& each : kColumns)
        known += (known.empty() ? "" : ", ") + std::string(each.name);
      throw Error(ErrorCode::usage,
                  fmt::format("--columns: no column {}; expected some of {}", quoted(name), known));
    }
    columns.push_back(column);
  }
  return columns;
}

Columns default_columns(Output output, bool strands, bool significance) {
  std::string list = "query,target,score";
  if (output == Output::ends || output == Output::statistics) list += ",query_end,target_end";
  if (output == Output::statistics) list += ",matches,similar,length";
  if (output == Output::cigar) list += ",query_begin,query_end,target_begin,target_end,cigar";
  if (strands) list += ",strand";
  if (significance) list += ",bits,evalue";
  return parse_columns(list);
}

Output output_needed(const Columns& columns) {
  Output output = Output::score;
  for (const Column* column : columns) output = std::max(output, column->needs);
  return output;
}

bool wants_significance(const Columns& columns) {
  return std::any_of(columns.begin(), columns.end(), [](const Column* column) {
    return column->id == ColumnId::bits || column->id == ColumnId::evalue;
  });
}

std::string tsv_header(const Columns& columns) {
  std::string header;
  for (const Column* column : columns) {
    if (!header.empty()) header.push_back('\t');
    header += column->name;
  }
  return header + '\n';
}

void append_tsv(std::string& out, const Row& row, const Columns& columns, const Options& options,
                CigarStyle cigar) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (i > 0) out.push_back('\t');
    append_value(out, columns[i]->id, row, options, cigar);
  }
  out.push_back('\n');
}

}  // namespace biogpu::app
