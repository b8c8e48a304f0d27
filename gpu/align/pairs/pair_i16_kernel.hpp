#pragma once

// Device code shared by pair_score_i16.hip and pair_trace_i16.hip, which are two files only so that
// they compile side by side.
#include "gpu/align/pairs/dp_i16x2.hpp"
#include "gpu/align/pairs/pair_i16.hpp"
#include "gpu/rt/kernel.hpp"

namespace biogpu::gpu::align {

inline constexpr unsigned kPackedBlock = 128;

template <int kWave, int kLanes, int kRows, bool kLocal, PackedOutput kOutput>
__global__ BIOGPU_LAUNCH_BOUNDS(kPackedBlock, 3) void pair_i16_kernel(PairCellsArgs a) {
  __shared__ std::uint32_t words[kPackedWords];
  if (threadIdx.x < kPackedWords) words[threadIdx.x] = a.scheme.packed_words[threadIdx.x];
  __syncthreads();
  const unsigned first = (blockIdx.x * kPackedBlock + threadIdx.x) / kLanes * 2;
  PackedPairs pairs;
#pragma unroll
  for (unsigned half = 0; half < 2; ++half) {
    if (first + half >= a.n_pairs) continue;
    const PairTask task = a.tasks[first + half];
    pairs.query[half] = a.residues + task.query;
    pairs.target[half] = a.residues + task.target;
    pairs.n_rows[half] = task.n_rows;
    pairs.n_columns[half] = task.n_columns;
    if (half == 0) {
      pairs.border = a.borders + task.border;
      if constexpr (kOutput == PackedOutput::trace) pairs.trace = a.trace + task.trace;
    }
  }
  using Lane = PackedLane<kWave, kPackedBlock, kLanes, kRows, kLocal, kOutput>;
  typename Lane::Kept* kept = nullptr;
  if constexpr (Lane::kKeeps) {
    __shared__ typename Lane::Kept columns;
    kept = &columns;
  }
  Lane lane(pairs, a.scheme, words, kept);
  lane.fill();
#pragma unroll
  for (unsigned half = 0; half < 2; ++half) {
    const PairEnd end = lane.end(static_cast<int>(half));
    if (first + half < a.n_pairs && threadIdx.x % kLanes == 0) a.ends[first + half] = end;
  }
}

template <int kShape, bool kLocal, PackedOutput kOutput>
void launch_i16_shape(const PairCellsArgs& a, Stream& stream) {
  constexpr int kLanes = kPackedShapes[kShape].n_lanes;
  constexpr int kRows = kPackedShapes[kShape].n_rows;
  const auto kernel = stream.wave_width() == 64
                          ? pair_i16_kernel<64, kLanes, kRows, kLocal, kOutput>
                          : pair_i16_kernel<32, kLanes, kRows, kLocal, kOutput>;
  const std::size_t n_groups = ceil_div<std::size_t>(a.n_pairs, 2);
  stream.launch(kernel, ceil_div<std::size_t>(n_groups, kPackedBlock / kLanes), kPackedBlock, a);
}

template <bool kLocal, PackedOutput kOutput>
void launch_i16_kernel(const PairCellsArgs& a, int shape, Stream& stream) {
  if (a.n_pairs == 0) return;  // an empty grid is a launch error
  switch (shape) {
    case 0:
      return launch_i16_shape<0, kLocal, kOutput>(a, stream);
    case 1:
      return launch_i16_shape<1, kLocal, kOutput>(a, stream);
    case 2:
      return launch_i16_shape<2, kLocal, kOutput>(a, stream);
    case 3:
      return launch_i16_shape<3, kLocal, kOutput>(a, stream);
    default:
      return launch_i16_shape<4, kLocal, kOutput>(a, stream);
  }
}

}  // namespace biogpu::gpu::align
