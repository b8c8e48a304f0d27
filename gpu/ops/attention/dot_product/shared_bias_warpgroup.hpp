#pragma once

#include "gpu/ops/attention/dot_product/dot_product_args.hpp"
#include "gpu/ops/device.hpp"

namespace biogpu::gpu::ops {

// Whether launch_shared_bias() takes these operands: 16 bits, heads up to 64 numbers, a bias of one
// number a query and key that all batch rows share, at least kMinRows batch rows and as many
// queries and keys, no cap, no key lengths, no logarithms of sums, and a masked value that weighs
// nothing beside a logit; all rows at multiples of 16 bytes.
struct SharedBiasRule {
  static constexpr int kMinRows = 48;
  static constexpr float kMasked = -1e6f;     // at most, in units of log2
  static constexpr float kInfinite = -1e29f;  // what is below counts as minus infinity
  static bool suits(const DotProductArgs& args);
};

// Attention of many batch rows with one bias, as triangle attention, on Hopper's warpgroup
// products. False, and nothing done, where the device has none or SharedBiasRule says so. Otherwise
// the caller runs the general kernel for what the returned notes say (DotProductArgs::redo).
bool launch_shared_bias(Device& device, DotProductArgs& args);

}  // namespace biogpu::gpu::ops
