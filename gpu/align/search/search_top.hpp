#pragma once

#include <cstdint>

namespace biogpu::gpu {
class Stream;
}

namespace biogpu::gpu::align {

struct SearchHit {
  std::uint32_t target;
  std::uint32_t score;
};

// Picks the hits of each query out of a row of scores; device memory. A score of `limit` or more is
// not exact and no hit.
struct SearchTopArgs {
  const std::uint16_t* score = nullptr;  // [n_slots][n_targets]
  SearchHit* hits = nullptr;             // [n_slots][top], written in any order
  std::uint32_t* n_hits = nullptr;       // [n_slots], written
  std::uint64_t n_targets = 0;
  std::uint32_t n_slots = 0;
  std::uint32_t top = 0;        // hits kept of a query at most, 1 or more
  std::uint32_t min_score = 0;  // of a hit
  std::uint32_t limit = 0;
};

void launch_search_top(const SearchTopArgs& args, Stream& stream);

}  // namespace biogpu::gpu::align
