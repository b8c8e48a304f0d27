#pragma once

#include "gpu/ops/gemm/gemm.hpp"

namespace biogpu::gpu::ops {

// Columns of a tile of results in fp32, where they divide the matrix; else its tiles are narrower
// and need more bytes for each operation.
inline constexpr int kWideTileColumns = 160;

// launch_gemm() on Hopper's warpgroup products. False, and nothing done, where the device has none
// or the product does not suit them: a is narrow or the product small, operands or results are not
// aligned to 16 bytes, results in fp32 or with a residual have an activation or a rotation, heads
// of other sizes than 16, 32 and 64 are rotated, or a residual is not the memory of the result.
bool launch_gemm_warpgroup(const GemmArgs& args, Number16 type, tensor::TileTable& tiles,
                           Stream& stream);

}  // namespace biogpu::gpu::ops
