#include "gpu/align/search/search_schedule.hpp"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <utility>

namespace biogpu::gpu::align {
namespace {

// Units of work that keep a block busy for long enough that the last ones do not matter.
constexpr std::int64_t kUnitsOfBlock = 24;
// Steps that a tile begins behind the one above it: two rounds of staged steps at least. Twice that
// many in the order of the units, so that few blocks wait.
constexpr std::int64_t kLag = 128;
constexpr std::int64_t kLagOfOrder = 256;
// Bundles that cost no more than one in so many above the least are as good.
constexpr std::int64_t kAsGood = 200;
// Queries of a bundle from which on tracks are even for any number of them.
constexpr std::size_t kManyQueries = 32;
// With more queries, laying tracks for every count of bundles would take longer than the device
// takes for few targets; bundles of so many queries each are short enough to run side by side.
constexpr std::size_t kMaxCompared = 2048;
constexpr std::size_t kQueriesOfBundle = 16;
// Of a unit: itself, and what its waves have left below.
constexpr std::uint64_t kBytesOfUnit = sizeof(SearchUnit) + kSearchWaves * sizeof(std::uint32_t);
constexpr std::int64_t kBuckets = 1 << 12;

std::int64_t steps_of(const SearchTargets& batch) { return batch.n_columns + kSearchLanes; }

std::int64_t steps_of(std::span<const SearchTargets> batches) {
  std::int64_t steps = 0;
  for (const SearchTargets& batch : batches) steps += steps_of(batch);
  return steps;
}

// Longest first, so that those worth splitting are the first ones.
std::uint32_t count_split(const SearchPlan& plan, std::span<const SearchTargets> batches,
                          std::uint32_t n_blocks, std::uint64_t max_bytes) {
  if (plan.max_tiles < 2) return 0;
  const std::int64_t share =
      static_cast<std::int64_t>(plan.n_tiles()) * steps_of(batches) / n_blocks;
  std::uint32_t n = 0;
  for (const SearchTargets& batch : batches) {
    const std::uint64_t end =
        batch.begin + static_cast<std::uint64_t>(batch.stride) * kSearchTargets;
    const std::uint64_t bytes = plan.bundles.size() * end * sizeof(BorderCell) +
                                plan.n_tiles() * (n + std::uint64_t{1}) * kBytesOfUnit;
    if (plan.max_tiles * steps_of(batch) * kUnitsOfBlock <= share || bytes > max_bytes) break;
    ++n;
  }
  return n;
}

// Calls take(unit, steps from its begin until all that waits for it can have ended), upper tiles
// before lower ones.
template <class Take>
void for_each_unit(const SearchPlan& plan, std::span<const SearchTargets> batches,
                   std::uint32_t n_split, const Take& take) {
  const auto n_batches = static_cast<std::uint32_t>(batches.size());
  for (int tile = 0; tile < plan.max_tiles; ++tile) {
    for (std::uint32_t b = 0; b < plan.bundles.size(); ++b) {
      const int n_tiles = plan.bundles[b].n_tiles;
      if (tile >= n_tiles) break;
      for (std::uint32_t i = 0; i < n_split; ++i)
        take(SearchUnit{b, i, tile, tile + 1},
             steps_of(batches[i]) + (n_tiles - tile) * kLagOfOrder);
      for (std::uint32_t i = n_split; tile == 0 && i < n_batches; ++i)
        take(SearchUnit{b, i, 0, n_tiles}, n_tiles * steps_of(batches[i]));
    }
  }
}

// By the steps that wait for them, as far as kBuckets resolves; else as they come, so that a tile
// always follows the one above it.
std::vector<SearchUnit> sorted_units(const SearchPlan& plan, std::span<const SearchTargets> batches,
                                     std::uint32_t n_split) {
  // Those of the first bundle and the longest batches, as both come by length.
  std::int64_t most = 0;
  if (n_split > 0) most = steps_of(batches[0]) + plan.max_tiles * kLagOfOrder;
  if (n_split < batches.size()) most = std::max(most, plan.max_tiles * steps_of(batches[n_split]));
  int shift = 0;
  while (most >> shift >= kBuckets) ++shift;
  const auto bucket_of = [&](std::int64_t steps) {
    assert(steps <= most);
    return static_cast<std::size_t>((most - steps) >> shift);
  };
  std::vector<std::size_t> begin(kBuckets + 1, 0);
  for_each_unit(plan, batches, n_split,
                [&](const SearchUnit&, std::int64_t steps) { ++begin[bucket_of(steps) + 1]; });
  for (std::size_t i = 1; i < begin.size(); ++i) begin[i] += begin[i - 1];
  std::vector<SearchUnit> units(begin.back());
  for_each_unit(plan, batches, n_split, [&](const SearchUnit& unit, std::int64_t steps) {
    units[begin[bucket_of(steps)]++] = unit;
  });
  return units;
}

}  // namespace

std::size_t choose_bundles(std::span<const std::int64_t> lengths, std::span<const int> rows,
                           std::span<const SearchTargets> batches, std::uint32_t n_blocks) {
  if (batches.empty() || lengths.empty()) return 1;
  const std::uint64_t wanted = static_cast<std::uint64_t>(kUnitsOfBlock) * n_blocks;
  const std::size_t most = std::min<std::size_t>((wanted + batches.size() - 1) / batches.size(),
                                                 (lengths.size() + 1) / 2);
  if (lengths.size() >= kManyQueries * most) return most;
  if (lengths.size() > kMaxCompared) return std::min(most, lengths.size() / kQueriesOfBundle);
  const std::int64_t steps = steps_of(batches);
  std::int64_t least = -1;
  std::vector<std::pair<std::size_t, std::int64_t>> costs;
  for (std::size_t n = 1; n <= most; n = n < 4 || n == most ? n + 1 : std::min(n * 5 / 4, most)) {
    const SearchTileCount tiles = count_search_tiles(lengths, rows, n);
    const std::int64_t path = (tiles.most * kLag + steps_of(batches[0])) * n_blocks;
    costs.emplace_back(n, tiles.cost_of_tile * std::max(tiles.all * steps, path));
    if (least < 0 || costs.back().second < least) least = costs.back().second;
  }
  std::size_t best = 1;
  for (const auto& [n, cost] : costs)
    if (cost - least <= least / kAsGood) best = n;
  return best;
}

SearchSchedule schedule_search(const SearchPlan& plan, std::span<const SearchTargets> batches,
                               std::uint32_t n_blocks, std::uint64_t max_split_bytes) {
  SearchSchedule schedule;
  if (batches.empty() || plan.bundles.empty()) return schedule;
  schedule.n_split = count_split(plan, batches, n_blocks, max_split_bytes);
  if (schedule.n_split > 0) {
    const SearchTargets& last = batches[schedule.n_split - 1];
    schedule.n_split_letters =
        last.begin + static_cast<std::uint64_t>(last.stride) * kSearchTargets;
  }
  if (schedule.n_split < batches.size())
    schedule.border_stride = batches[schedule.n_split].n_columns;
  schedule.units = sorted_units(plan, batches, schedule.n_split);
  return schedule;
}

}  // namespace biogpu::gpu::align
