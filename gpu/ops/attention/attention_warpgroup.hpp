#pragma once

#include "gpu/ops/attention/attention.hpp"

namespace biogpu::gpu::ops {

// launch_attention() on Hopper's warpgroup products. False, and nothing done, where the device has
// none, or for heads of other sizes than 64, operands of 32 bits, a bias, or rows that are not
// aligned to 16 bytes.
bool launch_attention_warpgroup(const AttentionArgs& args, Stream& stream);

}  // namespace biogpu::gpu::ops
