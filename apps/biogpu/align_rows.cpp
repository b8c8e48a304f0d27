#include "apps/biogpu/align_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>

namespace biogpu::app {
namespace {

constexpr std::uint32_t kCigarSoftClip = 4;
constexpr std::uint16_t kUnmapped = 4;
constexpr char kCigarLetters[] = "MIDNSHP=X";

using align::Alignment;
using align::Mode;
using align::Options;

std::span<const std::uint32_t> path_of(const align::Alignments& all, const Alignment& row) {
  return std::span(all.cigar).subspan(row.cigar_begin, row.n_cigar);
}

bool nothing_aligned(const Alignment& row, const Options& options) {
  return options.mode == Mode::local && row.score == 0;
}

void append(std::string& out, std::int64_t number) {
  const fmt::format_int digits(number);
  out.append(digits.data(), digits.size());
}

void append_column(std::string& out, std::int64_t number) {
  out.push_back('\t');
  append(out, number);
}

void append_cigar(std::string& out, std::span<const std::uint32_t> path) {
  if (path.empty()) out.push_back('*');
  for (const std::uint32_t run : path) {
    append(out, run >> 4);
    out.push_back(kCigarLetters[run & 15]);
  }
}

// A path cut down to what SAM shows.
struct Shown {
  std::int64_t target_begin = 0;
  std::uint64_t clip_begin = 0;  // query residues
  std::uint64_t clip_end = 0;
  std::span<const std::uint32_t> path;
};

std::uint64_t run_length(std::uint32_t run) { return run >> 4; }
std::uint32_t operation(std::uint32_t run) { return run & 15; }

Shown shown_local(const Alignment& row, std::span<const std::uint32_t> path,
                  std::uint64_t query_length) {
  return {row.target_begin, static_cast<std::uint64_t>(row.query_begin),
          query_length - static_cast<std::uint64_t>(row.query_end) - 1, path};
}

// Global and semi-global paths span both sequences; only the runs on free ends go.
Shown shown_end_to_end(const Options& options, std::span<const std::uint32_t> path) {
  Shown shown;
  shown.path = path;
  if (options.mode != Mode::semiglobal) return shown;
  const align::FreeEnds& free = options.free_ends;
  if (!shown.path.empty()) {
    const std::uint32_t run = shown.path.front();
    const bool deletion = free.target_begin && operation(run) == align::kCigarDeletion;
    const bool insertion = free.query_begin && operation(run) == align::kCigarInsertion;
    if (deletion) shown.target_begin = static_cast<std::int64_t>(run_length(run));
    if (insertion) shown.clip_begin = run_length(run);
    if (deletion || insertion) shown.path = shown.path.subspan(1);
  }
  if (!shown.path.empty()) {
    const std::uint32_t run = shown.path.back();
    const bool deletion = free.target_end && operation(run) == align::kCigarDeletion;
    const bool insertion = free.query_end && operation(run) == align::kCigarInsertion;
    if (insertion) shown.clip_end = run_length(run);
    if (deletion || insertion) shown.path = shown.path.first(shown.path.size() - 1);
  }
  return shown;
}

std::int32_t count_edits(std::span<const std::uint32_t> path) {
  std::uint64_t edits = 0;
  for (const std::uint32_t run : path)
    if (operation(run) != align::kCigarEqual) edits += run_length(run);
  return static_cast<std::int32_t>(edits);
}

bool has_columns(std::span<const std::uint32_t> path) {
  return std::any_of(path.begin(), path.end(), [](std::uint32_t run) {
    return operation(run) == align::kCigarEqual || operation(run) == align::kCigarMismatch;
  });
}

void append_run(std::vector<std::uint32_t>& cigar, std::uint64_t length, std::uint32_t op) {
  if (length > 0) cigar.push_back(static_cast<std::uint32_t>(length << 4 | op));
}

}  // namespace

std::string tsv_header(align::Output output) {
  switch (output) {
    case align::Output::score:
      return "query\ttarget\tscore\n";
    case align::Output::ends:
    case align::Output::statistics:  // no flag asks for them yet
      return "query\ttarget\tscore\tquery_end\ttarget_end\n";
    case align::Output::cigar:
      break;
  }
  return "query\ttarget\tscore\tquery_begin\tquery_end\ttarget_begin\ttarget_end\tcigar\n";
}

void make_tsv(const Unit& unit, const align::Alignments& alignments, const Options& options,
              Rows& rows) {
  std::string& out = rows.text;
  out.clear();
  for (std::size_t i = 0; i < unit.pairs.size(); ++i) {
    const Alignment& row = alignments.rows[i];
    const int past_end = nothing_aligned(row, options) ? 0 : 1;  // inclusive to half-open
    out += unit.queries->name(unit.query_begin + unit.pairs[i].query);
    out.push_back('\t');
    out += unit.targets->name(unit.target_begin + unit.pairs[i].target);
    append_column(out, row.score);
    if (options.output == align::Output::ends) {
      append_column(out, std::int64_t{row.query_end} + past_end);
      append_column(out, std::int64_t{row.target_end} + past_end);
    } else if (options.output == align::Output::cigar) {
      append_column(out, row.query_begin);
      append_column(out, std::int64_t{row.query_end} + past_end);
      append_column(out, row.target_begin);
      append_column(out, std::int64_t{row.target_end} + past_end);
      out.push_back('\t');
      append_cigar(out, path_of(alignments, row));
    }
    out.push_back('\n');
  }
}

void make_sam(const Unit& unit, const align::Alignments& alignments, const Options& options,
              Rows& rows) {
  rows.records.resize(unit.pairs.size());
  rows.cigar.clear();
  // Two clips a record at most; spans into the vector stay valid because it does not grow.
  rows.cigar.reserve(alignments.cigar.size() + 2 * unit.pairs.size());
  const std::uint64_t first_target = unit.targets->first_record() - 1 + unit.target_begin;
  for (std::size_t i = 0; i < unit.pairs.size(); ++i) {
    const Alignment& row = alignments.rows[i];
    const std::size_t query = unit.query_begin + unit.pairs[i].query;
    io::SamRecord& record = rows.records[i] = {};
    record.query_name = unit.queries->name(query);
    record.sequence = unit.queries->sequence(query);
    record.quality = unit.queries->quality(query);
    record.score = row.score;
    const auto path = path_of(alignments, row);
    const Shown shown = options.mode == Mode::local ? shown_local(row, path, record.sequence.size())
                                                    : shown_end_to_end(options, path);
    if (nothing_aligned(row, options) || !has_columns(shown.path)) {
      record.flag = kUnmapped;
      continue;
    }
    const std::size_t cigar_begin = rows.cigar.size();
    append_run(rows.cigar, shown.clip_begin, kCigarSoftClip);
    rows.cigar.insert(rows.cigar.end(), shown.path.begin(), shown.path.end());
    append_run(rows.cigar, shown.clip_end, kCigarSoftClip);
    record.cigar = std::span(rows.cigar).subspan(cigar_begin);
    record.target_id = static_cast<std::int32_t>(first_target + unit.pairs[i].target);
    record.target_begin = shown.target_begin;
    record.edit_distance = count_edits(shown.path);
  }
}

}  // namespace biogpu::app
