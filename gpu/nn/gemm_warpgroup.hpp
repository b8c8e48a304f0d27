#pragma once

#include "gpu/nn/gemm.hpp"

namespace biogpu::gpu::nn {

// The product of gemm.hpp for Hopper, with its epilogues; heads of 128 are rotated too. False, and
// nothing queued, where the device or the product does not suit it.
bool launch_gemm_warpgroup(const GemmArgs& args, Number16 type, Stream& stream);

}  // namespace biogpu::gpu::nn
