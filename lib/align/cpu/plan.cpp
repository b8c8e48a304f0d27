#include "lib/align/cpu/plan.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <numeric>

#include "lib/align/border.hpp"
#include "lib/align/cpu/group/group.hpp"

namespace biogpu::align {
namespace {

// A group keeps one column of H and E, and perhaps a profile per lane: these bound its memory to
// some tens of MiB per thread, and the trace to kMaxTraceBytes.
constexpr std::int64_t kMaxGroupQuery = 16384;
constexpr std::int64_t kMaxGroupTarget = 65536;
constexpr std::int64_t kMaxTraceBytes = 64 << 20;
// Below this many lanes the 32-bit kernel, with all its lanes in one pair, is the faster one.
constexpr std::size_t kFewestLanes = 4;

// Scores of a local alignment that must fit for its width to be worth a try.
constexpr std::int64_t kMinRoom = 64;

// The lowest value that H takes in any cell is at least minus this: a path of gaps alone.
std::int64_t deepest(const Options& options, std::int64_t m, std::int64_t n) {
  const std::int64_t down = gap_cost(options.scoring, m), right = gap_cost(options.scoring, n);
  const bool semiglobal = options.mode == Mode::semiglobal;
  const bool free_down = semiglobal && options.free_ends.query_begin;
  const bool free_right = semiglobal && options.free_ends.target_begin;
  if (free_down && free_right) return std::min(down, right);
  if (free_down) return right;
  if (free_right) return down;
  return down + right;
}

std::int64_t trace_bytes(std::int64_t m, std::int64_t n, int lanes) { return m * n * lanes / 2; }

// Lengths within about 6 % of each other share a step.
std::uint32_t length_step(std::uint64_t length) {
  if (length < 32) return static_cast<std::uint32_t>(length);
  const int shift = static_cast<int>(std::bit_width(length)) - 5;
  return static_cast<std::uint32_t>(32 + shift * 16 + (length >> shift) - 16);
}

// A pair and what it is sorted by.
struct Shape {
  std::uint64_t key;
  std::uint32_t pair;
  std::uint32_t query;  // the query's index when many pairs share it, else kUnshared
};
constexpr std::uint32_t kUnshared = std::numeric_limits<std::uint32_t>::max();

// Pairs of like target length side by side, and of those, pairs of like query length. 11 bits of a
// step hold every 32-bit length; a group's queries are shorter than 2^15.
std::uint64_t shape_key(std::uint64_t m, std::uint64_t n) {
  return std::uint64_t{length_step(n)} << 33 | (m & 0x7FFF) << 18 | (n & 0x3FFFF);
}

// Stable, by key: the digits that all share cost nothing, which is all of them for reads of one
// length.
void sort_by_key(std::vector<Shape>& shapes) {
  constexpr int kDigit = 11;
  std::uint64_t any = 0, all = ~std::uint64_t{0};
  for (const Shape& shape : shapes) {
    any |= shape.key;
    all &= shape.key;
  }
  std::vector<Shape> sorted(shapes.size());
  for (int shift = 0; shift < 64; shift += kDigit) {
    constexpr std::uint64_t kMask = (1 << kDigit) - 1;
    if (((any ^ all) >> shift & kMask) == 0) continue;
    std::array<std::size_t, kMask + 2> begin{};
    for (const Shape& shape : shapes) ++begin[(shape.key >> shift & kMask) + 1];
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    for (const Shape& shape : shapes) sorted[begin[shape.key >> shift & kMask]++] = shape;
    shapes.swap(sorted);
  }
}

}  // namespace

WidthChooser::WidthChooser(const Options& options)
    : options_(options),
      narrow_(options, true),
      wide_(options, false),
      max_score_(std::max(options.scoring.max_score(), 0)),
      differences_fit_(differences_fit(options.scoring)) {}

Width WidthChooser::choose_local(std::int64_t highest) const {
  const std::int64_t narrow_room = narrow_.local_highest - narrow_.local_zero;
  if (highest <= narrow_room) return Width::narrow;
  if (narrow_room >= kMinRoom) return Width::narrow_at_first;
  return wide_.local_highest - wide_.local_zero >= kMinRoom ? Width::wide : Width::single;
}

Width WidthChooser::choose(std::int64_t m, std::int64_t n) const {
  if (m > kMaxGroupQuery || n > kMaxGroupTarget) return Width::single;
  const std::int64_t highest = std::min(m, n) * max_score_;
  if (options_.mode == Mode::local) return choose_local(highest);
  const std::int64_t lowest = -deepest(options_, m, n);
  // Sums of differences, and positions, have 16 bits too.
  if (highest > wide_.highest || lowest < wide_.lowest || n > wide_.highest) return Width::single;
  return differences_fit_ ? Width::narrow : Width::wide;
}

Plan make_plan(const Work& work, const Options& options, std::span<const std::uint32_t> pairs,
               int lanes) {
  const bool share = !is_xor_table(options.scoring);
  std::vector<std::uint32_t> n_of_query;
  if (share) {
    n_of_query.resize(work.queries.size());
    for (const std::uint32_t p : pairs) ++n_of_query[work.pairs[p].query];
  }
  std::vector<Shape> shapes;
  shapes.reserve(pairs.size());
  for (const std::uint32_t p : pairs) {
    const Pair& pair = work.pairs[p];
    const bool shared = share && n_of_query[pair.query] >= static_cast<unsigned>(lanes) / 2;
    shapes.push_back({shape_key(work.queries.length(pair.query), work.targets.length(pair.target)),
                      p, shared ? pair.query : kUnshared});
  }
  sort_by_key(shapes);
  if (share)
    std::stable_sort(shapes.begin(), shapes.end(),
                     [](const Shape& a, const Shape& b) { return a.query < b.query; });

  Plan plan;
  // From the longest down, so that the group that is not full is one of short pairs.
  for (std::size_t end = shapes.size(); end > 0;) {
    std::size_t begin = end;
    std::uint64_t m = 0, n = 0;
    while (begin > 0 && end - begin < static_cast<std::size_t>(lanes) &&
           shapes[begin - 1].query == shapes[end - 1].query) {
      const Pair& pair = work.pairs[shapes[begin - 1].pair];
      m = std::max(m, work.queries.length(pair.query));
      n = std::max(n, work.targets.length(pair.target));
      if (wants_path(options) && trace_bytes(static_cast<std::int64_t>(m),
                                             static_cast<std::int64_t>(n), lanes) > kMaxTraceBytes)
        break;
      --begin;
    }
    if (end - begin < kFewestLanes) {
      begin = std::min(begin, end - 1);
      for (std::size_t k = begin; k < end; ++k) plan.singles.push_back(shapes[k].pair);
    } else {
      const std::size_t first = plan.order.size();
      for (std::size_t k = begin; k < end; ++k) plan.order.push_back(shapes[k].pair);
      plan.groups.push_back({first, plan.order.size(), shapes[begin].query != kUnshared});
    }
    end = begin;
  }
  std::reverse(plan.groups.begin(), plan.groups.end());
  return plan;
}

}  // namespace biogpu::align
