#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gpu/align/search/search_plan.hpp"
#include "gpu/align/search/search_score.hpp"

namespace biogpu::gpu::align {

// What the blocks of a search draw, and how much of it is split. Fills SearchUnit, n_split,
// n_split_letters and border_stride of SearchArgs.
struct SearchSchedule {
  std::vector<SearchUnit> units;  // by what waits for them, the most first
  std::uint32_t n_split = 0;
  std::uint64_t n_split_letters = 0;
  std::int32_t border_stride = 0;
};

// How many bundles queries are best laid out in: few leave less of their tracks empty, many can be
// filled side by side. lengths, rows: as for plan_search; batches: the longest first.
std::size_t choose_bundles(std::span<const std::int64_t> lengths, std::span<const int> rows,
                           std::span<const SearchTargets> batches, std::uint32_t n_blocks);

// batches: the longest first. max_split_bytes: on the device, for what SearchSettings says.
SearchSchedule schedule_search(const SearchPlan& plan, std::span<const SearchTargets> batches,
                               std::uint32_t n_blocks, std::uint64_t max_split_bytes);

}  // namespace biogpu::gpu::align
