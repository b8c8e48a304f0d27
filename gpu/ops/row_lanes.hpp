#pragma once

// Kernels that have 32 lanes for a row, in waves of 32 and of 64.

#include "gpu/ops/row_threads.hpp"
#include "gpu/prim/wave.hpp"

namespace biogpu::gpu::ops {

inline constexpr int kLanes = 32;  // of a row

// In a fixed tree, so that the same bytes come from waves of 32 and of 64.
template <int kWave, class Sum>
__device__ __forceinline__ Sum sum_of_lanes(Sum sum) {
  for (int mask = kLanes / 2; mask > 0; mask /= 2)
    sum += wave_shuffle_xor<kWave>(sum, mask, kLanes);
  return sum;
}

// Runs a kernel that is compiled for both widths, 32 lanes a row.
template <class Kernel, class Arrays>
void launch_rows(Stream& stream, Kernel wave32, Kernel wave64, std::int64_t n_rows,
                 const Arrays& arrays) {
  if (n_rows == 0) return;
  stream.launch(stream.wave_width() == 64 ? wave64 : wave32, row_blocks(n_rows * kLanes), kRowBlock,
                arrays);
}

}  // namespace biogpu::gpu::ops
