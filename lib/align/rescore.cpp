#include <algorithm>
#include <string>

#include "lib/align/align.hpp"
#include "lib/align/border.hpp"
#include "lib/core/error.hpp"

namespace biogpu::align {
namespace {

[[noreturn]] void bad_path(const char* what) {
  throw Error(ErrorCode::failed, std::string("a path is wrong: ") + what);
}

// Where the path stands (residues consumed) and what it is worth so far.
struct Walker {
  const Options& options;
  std::span<const std::uint8_t> query, target;
  std::int64_t i, j;
  std::int64_t score = 0;

  void diagonal(std::uint32_t op, std::int64_t length) {
    if (i + length > std::ssize(query) || j + length > std::ssize(target))
      bad_path("it runs past the end of a sequence");
    for (; length > 0; --length, ++i, ++j) {
      if ((query[i] == target[j]) != (op == kCigarEqual))
        bad_path("'=' or 'X' disagrees with the residues");
      score += options.scoring.score[query[i]][target[j]];
    }
  }

  void gap(std::uint32_t op, std::int64_t length, bool on_border) {
    (op == kCigarInsertion ? i : j) += length;
    if (i > std::ssize(query) || j > std::ssize(target))
      bad_path("it runs past the end of a sequence");
    const Scoring& s = options.scoring;
    // Inside the matrix a gap may open again from its own last residue; on the border it may not.
    const int extend = on_border ? s.gap_extend : std::min(s.gap_extend, s.gap_open);
    score -= s.gap_open + (length - 1) * extend;
  }
};

std::int64_t rescore_empty(const Work& work, const Options& options, const Pair& pair,
                           const Alignment& alignment, std::span<const std::uint32_t> cigar) {
  std::vector<std::uint32_t> expected;
  const Alignment row = align_empty(options, std::ssize(work.queries.sequence(pair.query)),
                                    std::ssize(work.targets.sequence(pair.target)), expected);
  if (alignment.query_end != row.query_end || alignment.target_end != row.target_end ||
      !std::ranges::equal(cigar, expected))
    bad_path("it is not that of a pair with an empty sequence");
  return row.score;
}

}  // namespace

std::int64_t rescore(const Work& work, const Options& options, const Pair& pair,
                     const Alignment& alignment, std::span<const std::uint32_t> cigar) {
  const auto query = work.queries.sequence(pair.query);
  const auto target = work.targets.sequence(pair.target);
  if (query.empty() || target.empty()) return rescore_empty(work, options, pair, alignment, cigar);
  const bool local = begins_anywhere(options);
  const bool ends_anywhere = options.mode == Mode::local;
  if (ends_anywhere && cigar.empty() && alignment.score == 0) return 0;

  const bool semiglobal = options.mode == Mode::semiglobal;
  const std::int64_t end_i = alignment.query_end + 1, end_j = alignment.target_end + 1;
  Walker walker{options, query, target, local ? alignment.query_begin : 0,
                local ? alignment.target_begin : 0};
  for (std::size_t k = 0; k < cigar.size(); ++k) {
    const std::uint32_t op = cigar[k] & 15;
    std::int64_t length = cigar[k] >> 4;
    if (length == 0) bad_path("an operation has no length");
    if (op == kCigarEqual || op == kCigarMismatch) {
      walker.diagonal(op, length);
      continue;
    }
    if (op != kCigarInsertion && op != kCigarDeletion) bad_path("an operation is unknown");
    const bool insertion = op == kCigarInsertion;
    const FreeEnds& ends = options.free_ends;
    std::int64_t& position = insertion ? walker.i : walker.j;
    const std::int64_t end = insertion ? end_i : end_j;
    if (k == 0 && semiglobal && (insertion ? ends.query_begin : ends.target_begin)) {
      if (length != (insertion ? alignment.query_begin : alignment.target_begin))
        bad_path("the leading end gap disagrees with the begin position");
      position += length;
      continue;
    }
    if (semiglobal && (insertion ? ends.query_end : ends.target_end) && position + length > end) {
      if (k + 1 != cigar.size()) bad_path("an end gap is not at the end");
      const std::int64_t paid = end - position;
      if (paid > 0) walker.gap(op, paid, k == 0);
      position += length - std::max<std::int64_t>(paid, 0);
      continue;
    }
    walker.gap(op, length, k == 0 && !local);
  }
  const std::int64_t want_i = ends_anywhere ? end_i : std::ssize(query);
  const std::int64_t want_j = ends_anywhere ? end_j : std::ssize(target);
  if (walker.i != want_i || walker.j != want_j)
    bad_path("it does not consume the residues between begin and end");
  return walker.score;
}

}  // namespace biogpu::align
