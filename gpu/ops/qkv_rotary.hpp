#pragma once

#include <cstdint>

#include "gpu/ops/elements.hpp"
#include "gpu/rt/stream.hpp"

namespace biogpu::gpu::ops {

// Rotates columns [0, n_rotated), heads of `head` numbers, a multiple of 8, of each row in place:
// see GemmEpilogue.
void launch_rotary(const Rows& x, const float* cos_sin, const std::int32_t* positions, int head,
                   int n_rotated, std::int64_t n_rows, Stream& stream);

}  // namespace biogpu::gpu::ops
