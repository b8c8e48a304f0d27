#include "lib/align/cpu/plan.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <tuple>

#include "lib/align/border.hpp"
#include "lib/align/cpu/group.hpp"

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
constexpr std::int64_t kLeastRoom = 64;

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

struct Shape {
  std::uint32_t pair;
  std::uint32_t query;  // the query's index when many pairs share it, else kUnshared
  std::uint32_t target_step;
  std::uint64_t m, n;
  auto key() const { return std::tuple(query, target_step, m, n, pair); }
};
constexpr std::uint32_t kUnshared = std::numeric_limits<std::uint32_t>::max();

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
  if (narrow_room >= kLeastRoom) return Width::narrow_at_first;
  return wide_.local_highest - wide_.local_zero >= kLeastRoom ? Width::wide : Width::single;
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
    const std::uint64_t m = work.queries.length(pair.query), n = work.targets.length(pair.target);
    const bool shared = share && n_of_query[pair.query] >= static_cast<unsigned>(lanes) / 2;
    shapes.push_back({p, shared ? pair.query : kUnshared, length_step(n), m, n});
  }
  std::sort(shapes.begin(), shapes.end(),
            [](const Shape& a, const Shape& b) { return a.key() < b.key(); });

  Plan plan;
  for (std::size_t begin = 0; begin < shapes.size();) {
    std::size_t end = begin;
    std::uint64_t m = 0, n = 0;
    while (end < shapes.size() && end - begin < static_cast<std::size_t>(lanes) &&
           shapes[end].query == shapes[begin].query) {
      m = std::max(m, shapes[end].m);
      n = std::max(n, shapes[end].n);
      if (wants_path(options) && trace_bytes(static_cast<std::int64_t>(m),
                                             static_cast<std::int64_t>(n), lanes) > kMaxTraceBytes)
        break;
      ++end;
    }
    if (end - begin < kFewestLanes) {
      end = std::max(end, begin + 1);
      for (std::size_t k = begin; k < end; ++k) plan.singles.push_back(shapes[k].pair);
    } else {
      const std::size_t first = plan.order.size();
      for (std::size_t k = begin; k < end; ++k) plan.order.push_back(shapes[k].pair);
      plan.groups.push_back({first, plan.order.size(), shapes[begin].query != kUnshared});
    }
    begin = end;
  }
  return plan;
}

}  // namespace biogpu::align
