#include "apps/biogpu/align/format/emboss_ssw.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

namespace biogpu::app {
namespace {

constexpr std::size_t kPositionWidth = 7;

struct ViewStyle {
  char same, above_zero, other;
  std::size_t columns;     // a block
  std::size_t name_width;  // names are cut or padded to it
  bool turns_positions;    // of the reverse strand, as nothing else tells it
};
constexpr ViewStyle kEmboss{'|', ':', '.', 50, 14, true};
constexpr ViewStyle kSsw{'|', '*', '*', 60, 10, false};

// A path written out, gaps as '-'.
struct PairwiseText {
  std::string query, target, marks;
};

char mark(char a, char b, const align::Scoring& scoring, const LetterRule& letters,
          const ViewStyle& style) {
  if (letters.same_in_view(a, b)) return style.same;
  const auto q = scoring.class_of[static_cast<unsigned char>(a)];
  const auto t = scoring.class_of[static_cast<unsigned char>(b)];
  return scoring.score[q][t] > 0 ? style.above_zero : style.other;
}

PairwiseText spell(const Row& row, std::size_t i, std::size_t j, const align::Options& options,
                   const LetterRule& letters, const ViewStyle& style) {
  PairwiseText pairwise;
  for (const std::uint32_t run : row.path) {
    const std::uint64_t length = run_length(run);
    const bool insertion = run_operation(run) == align::kCigarInsertion;
    const bool deletion = run_operation(run) == align::kCigarDeletion;
    pairwise.query += deletion ? std::string(length, '-') : row.query.substr(i, length);
    pairwise.target += insertion ? std::string(length, '-') : row.target.substr(j, length);
    for (std::uint64_t k = 0; k < length; ++k)
      pairwise.marks += insertion || deletion ? ' '
                                              : mark(row.query[i + k], row.target[j + k],
                                                     options.scoring, letters, style);
    if (!deletion) i += length;
    if (!insertion) j += length;
  }
  return pairwise;
}

// Where a line of a block is in its sequence: on the strand shown, from 0. turned_from: else 0; the
// length of a sequence of which the reverse complement is shown and the positions of the strand as
// given are printed, which fall.
struct LinePosition {
  std::uint64_t position = 0;
  std::uint64_t turned_from = 0;

  std::uint64_t first() const { return turned_from > 0 ? turned_from - position : position + 1; }
  std::uint64_t last() const { return turned_from > 0 ? turned_from - position + 1 : position; }
};

// One line of a block: name, position of its first residue, residues, position of its last.
void append_line(std::string& out, std::string_view name, std::string_view text, LinePosition& at,
                 std::size_t width, const ViewStyle& style) {
  fmt::format_to(std::back_inserter(out), "{:<{}} {:>{}} {}", name.substr(0, style.name_width),
                 style.name_width, at.first(), width, text);
  at.position += text.size() - static_cast<std::size_t>(std::count(text.begin(), text.end(), '-'));
  fmt::format_to(std::back_inserter(out), " {:>{}}\n", at.last(), width);
}

struct Begins {
  std::uint64_t query = 0, target = 0;
};
Begins path_begins(const Row& row, const align::Options& options) {
  if (options.mode != align::Mode::local) return {};
  return {static_cast<std::uint64_t>(row.alignment->query_begin),
          static_cast<std::uint64_t>(row.alignment->target_begin)};
}

std::size_t position_width(const Row& row) {
  return std::max(kPositionWidth, fmt::formatted_size("{}", row.query.size() + row.target.size()));
}

void append_blocks(std::string& out, const Row& row, const PairwiseText& pairwise, Begins at,
                   std::string_view query_name, std::string_view target_name,
                   const ViewStyle& style) {
  const std::size_t width = position_width(row);
  LinePosition query{at.query, row.reverse && style.turns_positions ? row.query.size() : 0};
  LinePosition target{at.target};
  for (std::size_t i = 0; i < pairwise.marks.size(); i += style.columns) {
    const auto part = [&](const std::string& text) {
      return std::string_view(text).substr(i, style.columns);
    };
    out.push_back('\n');
    append_line(out, target_name, part(pairwise.target), target, width, style);
    out.append(style.name_width + 1 + width + 1, ' ');
    out += part(pairwise.marks);
    out.push_back('\n');
    append_line(out, query_name, part(pairwise.query), query, width, style);
  }
}

void append_share(std::string& out, const char* label, std::int64_t count, std::int64_t length,
                  std::size_t width) {
  const double percent = 100.0 * static_cast<double>(count) / static_cast<double>(length);
  fmt::format_to(std::back_inserter(out), "{:<12}{:>{}}/{} ({:4.1f}%)\n", label, count, width,
                 length, length > 0 ? percent : 0.0);
}

}  // namespace

void append_emboss(std::string& out, const Row& row, const align::Options& options,
                   const LetterRule& letters) {
  const Begins at = path_begins(row, options);
  const PairwiseText pairwise = spell(row, at.query, at.target, options, letters, kEmboss);
  append_blocks(out, row, pairwise, at, row.query_name, row.target_name, kEmboss);
  const auto count = [&](char c) {
    return std::count(pairwise.marks.begin(), pairwise.marks.end(), c);
  };
  const std::int64_t length = std::ssize(pairwise.marks);
  const std::int64_t same = count(kEmboss.same);
  const std::size_t width = position_width(row);
  fmt::format_to(std::back_inserter(out), "\nLength: {}\n", length);
  append_share(out, "Identity:", same, length, width);
  append_share(out, "Similarity:", same + count(kEmboss.above_zero), length, width);
  append_share(out, "Gaps:", count(' '), length, width);
  fmt::format_to(std::back_inserter(out), "Score: {}\n", row.alignment->score);
}

void append_ssw(std::string& out, const Row& row, const align::Options& options,
                const LetterRule& letters, bool from_zero) {
  const align::Alignment& a = *row.alignment;
  const Begins at = path_begins(row, options);
  const bool end_to_end = from_zero && options.mode != align::Mode::local;
  fmt::format_to(std::back_inserter(out),
                 "target_name: {}\nquery_name: {}\noptimal_alignment_score: {}\tstrand: {}\t"
                 "target_begin: {}\ttarget_end: {}\tquery_begin: {}\tquery_end: {}\n",
                 row.target_name, row.query_name, a.score, row.reverse ? '-' : '+',
                 end_to_end ? 1 : a.target_begin + 1, a.target_end + 1,
                 end_to_end ? 1 : a.query_begin + 1, a.query_end + 1);
  append_blocks(out, row, spell(row, at.query, at.target, options, letters, kSsw), at,
                "Query:", "Target:", kSsw);
}

}  // namespace biogpu::app
