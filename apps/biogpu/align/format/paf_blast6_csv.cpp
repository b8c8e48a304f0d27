#include "apps/biogpu/align/format/paf_blast6_csv.hpp"

#include <fmt/format.h>

#include <iterator>

namespace biogpu::app {
namespace {

void append_field(std::string& out, std::uint64_t number) {
  out.push_back('\t');
  append_number(out, static_cast<std::int64_t>(number));
}

// Positions in the query as given, half-open.
struct QuerySpan {
  std::uint64_t begin, end;
};
QuerySpan as_given(const Row& row, const AlignedPart& shown) {
  if (!row.reverse) return {shown.query_begin, shown.query_end};
  return {row.query.size() - shown.query_end, row.query.size() - shown.query_begin};
}

}  // namespace

void append_paf(std::string& out, const Row& row, const align::Options& options, CigarStyle cigar) {
  const AlignedPart shown = aligned_part(row, options);
  if (!has_columns(shown.path)) return;
  const ColumnCounts counts = count_columns(shown.path);
  const QuerySpan query = as_given(row, shown);
  out += row.query_name;
  append_field(out, row.query.size());
  append_field(out, query.begin);
  append_field(out, query.end);
  out += row.reverse ? "\t-\t" : "\t+\t";
  out += row.target_name;
  append_field(out, row.target.size());
  append_field(out, shown.target_begin);
  append_field(out, shown.target_end);
  append_field(out, counts.matches);
  append_field(out, counts.columns());
  out += "\t255\tAS:i:";
  append_number(out, row.alignment->score);
  out += "\tNM:i:";
  append_number(out, static_cast<std::int64_t>(counts.mismatches + counts.gaps));
  out += "\tcg:Z:";
  append_cigar(out, shown.path, cigar);
  out.push_back('\n');
}

void append_blast6(std::string& out, const Row& row, const align::Options& options) {
  const AlignedPart shown = aligned_part(row, options);
  if (!has_columns(shown.path)) return;
  const ColumnCounts counts = count_columns(shown.path);
  const QuerySpan query = as_given(row, shown);
  out += row.query_name;
  out.push_back('\t');
  out += row.target_name;
  fmt::format_to(
      std::back_inserter(out), "\t{:.3f}",
      100.0 * static_cast<double>(counts.matches) / static_cast<double>(counts.columns()));
  append_field(out, counts.columns());
  append_field(out, counts.mismatches);
  append_field(out, counts.gap_opens);
  append_field(out, query.begin + 1);
  append_field(out, query.end);
  append_field(out, row.reverse ? shown.target_end : shown.target_begin + 1);
  append_field(out, row.reverse ? shown.target_begin + 1 : shown.target_end);
  out.push_back('\t');
  append_evalue(out, row.evalue);
  out.push_back('\t');
  append_bits(out, row.bits);
  out.push_back('\n');
}

void append_csv(std::string& out, const Row& row, align::Output output, bool tells_strand) {
  const align::Alignment& a = *row.alignment;
  append_number(out, static_cast<std::int64_t>(row.query_index));
  const auto append = [&](std::int64_t number) {
    out.push_back(',');
    append_number(out, number);
  };
  append(static_cast<std::int64_t>(row.target_index));
  append(std::ssize(row.query));
  append(std::ssize(row.target));
  append(a.score);
  const bool turn = row.reverse && !row.path.empty();
  append(turn ? std::ssize(row.query) - 1 - a.query_begin : std::int64_t{a.query_end});
  append(a.target_end);
  if (output >= align::Output::statistics) {
    append(a.matches);
    append(a.similar);
    append(a.length);
  }
  if (tells_strand) out += row.reverse ? ",-" : ",+";
  out.push_back('\n');
}

}  // namespace biogpu::app
