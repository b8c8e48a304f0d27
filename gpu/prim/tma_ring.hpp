#pragma once

// What kernels share that copy boxes of 128 bytes a row into a ring of stages (gpu/prim/warpgroup).

#include "gpu/rt/hip.hpp"

namespace biogpu::gpu {

// A stage of the ring, with the parity of the phase of its barriers.
template <int kStages>
struct PipelineState {
  int stage = 0, parity = 0;
  __device__ __forceinline__ void advance() {
    if (++stage == kStages) {
      stage = 0;
      parity ^= 1;
    }
  }
  __device__ __forceinline__ void advance(int n) {
    stage += n;
    parity ^= stage / kStages & 1;
    stage %= kStages;
  }
};

// Where a box has a piece of 16 bytes of a row, as gpu/rt/tensor_map.hpp says.
__device__ __forceinline__ int box_piece(int row, int piece) {
  return row * 128 + 16 * (piece ^ (row & 7));
}

}  // namespace biogpu::gpu
