#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gpu/align/search/search_score.hpp"

namespace biogpu::gpu::align {

// How the queries of a run lie in tracks. Fills SearchBundle and SearchLaneRows of SearchArgs.
struct SearchPlan {
  int rows = 0;                       // of a lane
  int max_tiles = 0;                  // of a bundle
  std::vector<SearchBundle> bundles;  // the longest first
  std::vector<SearchLaneRows> lanes;
  std::uint64_t n_profile_words = 0;

  std::size_t n_tiles() const { return lanes.size() / (2 * kSearchLanes); }
};

// What the tiles of a plan cost: cost_of_tile a step, in rows.
struct SearchTileCount {
  std::int64_t all = 0;
  std::int64_t most = 0;  // of a bundle
  std::int64_t cost_of_tile = 0;
};

// lengths: of the queries, whose residues follow each other, the longest first. rows: those that a
// lane may have. n_bundles: at least 1; no more than every second query can fill are made.
SearchTileCount count_search_tiles(std::span<const std::int64_t> lengths, std::span<const int> rows,
                                   std::size_t n_bundles);

// Arguments as those of count_search_tiles.
SearchPlan plan_search(std::span<const std::int64_t> lengths, std::span<const int> rows,
                       std::size_t n_bundles, int n_classes);

}  // namespace biogpu::gpu::align
