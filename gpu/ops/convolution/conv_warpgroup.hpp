#pragma once

#include "gpu/ops/convolution/conv_args.hpp"
#include "gpu/prim/number16_type.hpp"
#include "gpu/rt/stream.hpp"

namespace biogpu::gpu::ops {

// Whether convolutions of such operands run on Hopper's warpgroup products, and whether m rows of
// results are enough for them to fill the device. Rows lie next to each other: stride 1.
bool conv_suits_warpgroups(const ConvArgs& args, std::int64_t m, const Stream& stream);

// conv_product.hip's results for rows of one segment, of which x holds all rows that are read:
// what lies outside of x is zero. False where the driver refuses the operands: results are then not
// complete.
bool launch_conv_warpgroup(const ConvArgs& args, Number16 type, Device& device);

}  // namespace biogpu::gpu::ops
