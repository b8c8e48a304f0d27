#pragma once

#include <cstdint>

#include "gpu/ops/elements.hpp"
#include "gpu/prim/number16_type.hpp"
#include "gpu/rt/stream.hpp"
#include "lib/ops/activation.hpp"
#include "lib/tensor/tuning/tile_table.hpp"

namespace biogpu::gpu::ops {

// What happens to a sum before it is stored, in this order.
struct GemmEpilogue {
  const float* bias = nullptr;  // [n]
  biogpu::ops::Activation activation = biogpu::ops::Activation::none;
  // Rotary embedding of columns [0, n_rotated), which are heads of `head` columns: column i of a
  // head with column i + head / 2 by the angle of the row's position. head: 16, 32 or 64.
  const float* cos_sin = nullptr;           // [P, head]: head / 2 cosines, then head / 2 sines
  const std::int32_t* positions = nullptr;  // [m]
  int head = 0;
  int n_rotated = 0;
  Rows residual;  // [m, n], of out's type, or not given: sums in 16 bits may be infinite
};

// out[m, n] = epilogue(a[m, k] b[n, k]^T), sums in fp32.
struct GemmArgs {
  const std::uint16_t* a =
      nullptr;  // rows lda elements apart; 16-byte aligned, lda a multiple of 8
  const std::uint16_t* b = nullptr;  // rows ldb elements apart, likewise
  std::int64_t lda = 0, ldb = 0;
  int m = 0, n = 0, k = 0;  // k: a multiple of 8
  bool in_parts = false;    // see gemm_tile::SumParts: for fp32 operands as sums of two numbers
  float sum_scale = 1;      // of the sums, where in parts; see DeviceLinear
  GemmEpilogue epilogue;
  Rows out;  // [m, n]
};

// Heads that the epilogue can rotate.
constexpr bool can_rotate_in_gemm(int head) { return head == 16 || head == 32 || head == 64; }

// type: of a and b.
void launch_gemm(const GemmArgs& args, Number16 type, tensor::TileTable& tiles, Stream& stream);
// As tiles name it.
const char* name_of_operands(const GemmArgs& args, Number16 type);

}  // namespace biogpu::gpu::ops
