#include "apps/biogpu/align/format/row.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace biogpu::app {
namespace {

using align::kCigarDeletion;
using align::kCigarEqual;
using align::kCigarInsertion;
using align::kCigarMismatch;
using align::Mode;

constexpr char kCigarLetters[] = "MIDNSHP=X";
constexpr std::uint32_t kCigarMatch = 0;

bool is_column(std::uint32_t run) {
  return run_operation(run) == kCigarEqual || run_operation(run) == kCigarMismatch;
}

}  // namespace

bool nothing_aligned(const align::Alignment& alignment, const align::Options& options) {
  return options.mode == Mode::local && alignment.score == 0;
}

bool has_columns(std::span<const std::uint32_t> path) {
  return std::any_of(path.begin(), path.end(), is_column);
}

AlignedPart aligned_part(const Row& row, const align::Options& options) {
  AlignedPart shown;
  shown.path = row.path;
  if (options.mode == Mode::local) {
    if (row.path.empty()) return shown;
    shown.query_begin = static_cast<std::uint64_t>(row.alignment->query_begin);
    shown.query_end = static_cast<std::uint64_t>(row.alignment->query_end) + 1;
    shown.target_begin = static_cast<std::uint64_t>(row.alignment->target_begin);
    shown.target_end = static_cast<std::uint64_t>(row.alignment->target_end) + 1;
    return shown;
  }
  // Global and semi-global paths span both sequences; only the runs on free ends go.
  shown.query_end = row.query.size();
  shown.target_end = row.target.size();
  if (options.mode != Mode::semiglobal) return shown;
  const align::FreeEnds& free = options.free_ends;
  if (!shown.path.empty()) {
    const std::uint32_t run = shown.path.front();
    const bool deletion = free.target_begin && run_operation(run) == kCigarDeletion;
    const bool insertion = free.query_begin && run_operation(run) == kCigarInsertion;
    if (deletion) shown.target_begin = run_length(run);
    if (insertion) shown.query_begin = run_length(run);
    if (deletion || insertion) shown.path = shown.path.subspan(1);
  }
  if (!shown.path.empty()) {
    const std::uint32_t run = shown.path.back();
    const bool deletion = free.target_end && run_operation(run) == kCigarDeletion;
    const bool insertion = free.query_end && run_operation(run) == kCigarInsertion;
    if (deletion) shown.target_end -= run_length(run);
    if (insertion) shown.query_end -= run_length(run);
    if (deletion || insertion) shown.path = shown.path.first(shown.path.size() - 1);
  }
  return shown;
}

ColumnCounts count_columns(std::span<const std::uint32_t> path) {
  ColumnCounts counts;
  for (const std::uint32_t run : path) {
    const std::uint64_t length = run_length(run);
    if (run_operation(run) == kCigarEqual) {
      counts.matches += length;
    } else if (run_operation(run) == kCigarMismatch) {
      counts.mismatches += length;
    } else {
      counts.gaps += length;
      ++counts.gap_opens;
    }
  }
  return counts;
}

PaidGaps paid_gaps(const Row& row, const align::Options& options) {
  const align::Alignment& alignment = *row.alignment;
  const bool semiglobal = options.mode == Mode::semiglobal;
  PaidGaps gaps;
  for (std::size_t i = 0; i < row.path.size(); ++i) {
    if (is_column(row.path[i])) continue;
    const bool deletion = run_operation(row.path[i]) == kCigarDeletion;
    auto paid = static_cast<std::int64_t>(run_length(row.path[i]));
    // Free ends lie outside of begin .. end.
    if (semiglobal && i == 0) paid -= deletion ? alignment.target_begin : alignment.query_begin;
    if (semiglobal && i + 1 == row.path.size())
      paid -= deletion ? std::ssize(row.target) - 1 - alignment.target_end
                       : std::ssize(row.query) - 1 - alignment.query_end;
    if (paid <= 0) continue;
    gaps.columns += static_cast<std::uint64_t>(paid);
    ++gaps.opens;
  }
  return gaps;
}

void append_number(std::string& out, std::int64_t number) {
  const fmt::format_int digits(number);
  out.append(digits.data(), digits.size());
}

void append_cigar(std::string& out, std::span<const std::uint32_t> path, CigarStyle style) {
  if (path.empty()) out.push_back('*');
  for (std::size_t i = 0; i < path.size(); ++i) {
    std::uint64_t length = run_length(path[i]);
    std::uint32_t operation = run_operation(path[i]);
    if (style == CigarStyle::merged && is_column(path[i])) {
      while (i + 1 < path.size() && is_column(path[i + 1])) length += run_length(path[++i]);
      operation = kCigarMatch;
    }
    append_number(out, static_cast<std::int64_t>(length));
    out.push_back(kCigarLetters[operation]);
  }
}

void append_bits(std::string& out, double bits) {
  if (std::isnan(bits)) {
    out.push_back('*');
  } else if (bits > 99.9) {
    fmt::format_to(std::back_inserter(out), "{:.0f}", std::floor(bits));
  } else {
    fmt::format_to(std::back_inserter(out), "{:.1f}", bits);
  }
}

void append_evalue(std::string& out, double evalue) {
  if (std::isnan(evalue)) {
    out.push_back('*');
    return;
  }
  const char* form = evalue < 1e-180   ? "0.0"
                     : evalue < 0.0009 ? "{:.2e}"
                     : evalue < 0.1    ? "{:.3f}"
                     : evalue < 1      ? "{:.2f}"
                     : evalue < 10     ? "{:.1f}"
                                       : "{:.0f}";
  fmt::format_to(std::back_inserter(out), fmt::runtime(form), evalue);
}

}  // namespace biogpu::app
