#pragma once

#include <cstdint>

#include "gpu/ops/elements.hpp"
#include "gpu/rt/stream.hpp"

namespace biogpu::gpu::ops {

// Heads of `head` numbers in one row, of which the first n_turned are rotated, an even number.
struct RotaryShape {
  int head = 0, n_turned = 0, n_heads = 0;
};

// Rotates heads at the beginning of each row in place. cos_sin [P, n_turned]: see GemmEpilogue.
void launch_rotary(const Rows& x, const float* cos_sin, const std::int32_t* positions,
                   const RotaryShape& shape, std::int64_t n_rows, Stream& stream);

}  // namespace biogpu::gpu::ops
