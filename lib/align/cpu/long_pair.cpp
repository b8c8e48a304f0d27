#include "lib/align/cpu/long_pair.hpp"

#include <algorithm>
#include <cmath>

#include "lib/align/cpu/group.hpp"
#include "lib/align/cpu/long_slab.hpp"

namespace biogpu::align {
namespace {

// Rows between checkpoints: the sum of checkpoints (8 bytes) and slab (half a byte) is least near
// 4 sqrt(m). A multiple of every vector's lanes.
std::int64_t checkpoint_distance(std::int64_t m) {
  const auto best = static_cast<std::int64_t>(4 * std::sqrt(static_cast<double>(m)));
  return (std::max<std::int64_t>(best, 256) + kMaxLanes - 1) / kMaxLanes * kMaxLanes;
}

void fill_top(const Options& options, const Slab& slab) {
  for (std::int64_t j = 0; j < slab.n_columns; ++j) {
    slab.h_row[j] = static_cast<std::int32_t>(top_border(options, j + 1));
    slab.f_row[j] = slab.h_row[j] - options.scoring.gap_open;
  }
}

}  // namespace

Alignment align_long_pair(const Options& options, const PairScores& scores,
                          std::span<const std::uint8_t> query, std::span<const std::uint8_t> target,
                          Scratch& scratch, std::vector<std::uint32_t>& cigar) {
  const std::int64_t m = std::ssize(query), n = std::ssize(target);
  const bool with_path = wants_path(options);
  Slab slab{.options = &options, .scores = scores, .query = query, .target = target};
  slab.small_table = has_small_table(options.scoring);
  slab.end_row = m;
  slab.n_columns = n;
  slab.scratch = &scratch;
  slab.h_row = scratch.h.get<std::int32_t>(n + kMaxLanes);
  slab.f_row = scratch.e.get<std::int32_t>(n + kMaxLanes);
  if (with_path) {
    slab.checkpoint_rows = checkpoint_distance(m);
    const std::int64_t n_checkpoints = (m - 1) / slab.checkpoint_rows + 1;
    slab.checkpoints = scratch.checkpoints.get<std::int32_t>(n_checkpoints * 2 * n);
  }
  fill_top(options, slab);

  EndPicker picker(options, m, n);
  SlabResult result;
  result.picker = &picker;
  align_slab(slab, false, result);
  const bool local = options.mode == Mode::local;
  const EndPicker::End end = local ? result.local_end : picker.pick();

  Alignment row;
  row.score = static_cast<std::int32_t>(end.score);
  if (options.output == Output::score || (local && end.score == 0)) return row;
  row.query_end = static_cast<std::int32_t>(end.i);
  row.target_end = static_cast<std::int32_t>(end.j);
  if (!with_path) return row;

  const std::int64_t distance = slab.checkpoint_rows;
  slab.checkpoint_rows = 0;
  PathWalk walk(options, query, target);
  walk.start(end.i, end.j, end.score);
  while (!walk.done()) {
    slab.first_row = walk.i() / distance * distance;
    slab.end_row = walk.i() + 1;
    slab.n_columns = walk.j() + 1;
    const std::int32_t* saved = slab.checkpoints + slab.first_row / distance * 2 * n;
    std::copy_n(saved, slab.n_columns, slab.h_row);
    std::copy_n(saved + n, slab.n_columns, slab.f_row);
    align_slab(slab, true, result);
    walk.run(slab.first_row,
             [&](std::int64_t i, std::int64_t j) { return result.trace.cell(i, j); });
  }
  walk.finish(row, cigar);
  return row;
}

}  // namespace biogpu::align
