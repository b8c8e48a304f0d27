#pragma once

#include "gpu/ops/attention/dot_product/dot_product_args.hpp"
#include "gpu/rt/stream.hpp"

namespace biogpu::gpu::ops {

// Attention with AlphaGenome's heads, keys of 128 and values of 192 numbers, on Hopper's warpgroup
// products. False, and nothing done, where the device has none, or for other heads, operands of 32
// bits, no cap or one above 14 (in units of log2), masks, key lengths, keys in other numbers than
// multiples of 64, biases in blocks other than 16, 32, 64, ..., batch rows that do not follow each
// other, or rows that are not aligned to 16 bytes.
bool launch_dot_product_warpgroup(const DotProductArgs& args, Stream& stream);

}  // namespace biogpu::gpu::ops
