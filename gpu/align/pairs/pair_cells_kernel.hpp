#pragma once

// Device code shared by pair_cells.hip and pair_trace.hip, which are two files only so that they
// compile side by side.
#include "gpu/align/dp_tile.hpp"
#include "gpu/align/pairs/pair_cells.hpp"
#include "gpu/rt/kernel.hpp"

namespace biogpu::gpu::align {

inline constexpr unsigned kPairBlock = 128;

template <int kWave, int kLanes, int kRows, bool kLocal, bool kTrace>
__global__ BIOGPU_LAUNCH_BOUNDS(kPairBlock, 3) void pair_cells_kernel(PairCellsArgs a) {
  __shared__ std::int8_t scores[kScoreBytes];
  load_scores(scores, a.scheme.scores);
  const unsigned pair = (blockIdx.x * kPairBlock + threadIdx.x) / kLanes;
  Rectangle rectangle;
  if (pair < a.n_pairs) {  // groups without a pair idle along with their wave
    const PairTask task = a.tasks[pair];
    rectangle.query = a.residues + task.query;
    rectangle.target = a.residues + task.target;
    rectangle.n_rows = task.n_rows;
    rectangle.n_columns = task.n_columns;
    rectangle.has_last_row = true;
    rectangle.has_last_column = true;
    rectangle.below = a.borders + task.border;
    if constexpr (kTrace) rectangle.trace = a.trace + task.trace;
  }
  RectangleLane<kWave, kLanes, kRows, kLocal, kTrace> lane(rectangle, a.scheme, scores);
  lane.fill();
  PairEnd end = lane.best();
  if constexpr (!kLocal) {
    end = choose_end(end, lane.best_in_last_row(), rectangle.n_columns - 1);
  }
  if (pair < a.n_pairs && threadIdx.x % kLanes == 0) {
    a.ends[pair] = end;
  }
}

template <int kLanes, int kRows, bool kTrace>
void launch_pair_shape(const PairCellsArgs& a, Stream& stream) {
  const bool wide = stream.wave_width() == 64;
  const auto kernel = a.scheme.local ? (wide ? pair_cells_kernel<64, kLanes, kRows, true, kTrace>
                                             : pair_cells_kernel<32, kLanes, kRows, true, kTrace>)
                                     : (wide ? pair_cells_kernel<64, kLanes, kRows, false, kTrace>
                                             : pair_cells_kernel<32, kLanes, kRows, false, kTrace>);
  stream.launch(kernel, ceil_div<std::size_t>(a.n_pairs, kPairBlock / kLanes), kPairBlock, a);
}

template <bool kTrace>
void launch_pair_kernel(const PairCellsArgs& a, int shape, Stream& stream) {
  if (a.n_pairs == 0) return;  // an empty grid is a launch error
  switch (shape) {
    case 0:
      return launch_pair_shape<kPairShapes[0].n_lanes, kPairShapes[0].n_rows, kTrace>(a, stream);
    case 1:
      return launch_pair_shape<kPairShapes[1].n_lanes, kPairShapes[1].n_rows, kTrace>(a, stream);
    default:
      return launch_pair_shape<kPairShapes[2].n_lanes, kPairShapes[2].n_rows, kTrace>(a, stream);
  }
}

}  // namespace biogpu::gpu::align
