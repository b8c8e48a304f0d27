#pragma once

#include <cstddef>

#include "lib/ops/declare.hpp"

namespace biogpu::ops {

// Triangle multiplication with its norms, gate and residual (AlphaFold 2, supplement 1.6.5; Jumper
// et al. 2021, doi 10.1038/s41586-021-03819-2):
//   n = norm_in(z), a = mask sigmoid(gate_a n) (map_a n), b alike,
//   x_ij = sum over k of a_ik b_jk (outgoing) or of a_ki b_kj (incoming),
//   out = residual + sigmoid(gate n) (map_out norm_out(x)).
// Operands are rounded where they leave a product. In bf16 on Hopper x is, too: nothing but a, b
// and x passes through memory there, and norm_out is folded into map_out.
struct TriangleProduct {
  Tensor z;                             // f32 or operand [N, N, C], contiguous
  Tensor mask;                          // f32 [N, N], contiguous, or empty: all 1
  Norm norm_in, norm_out;               // [C], [D]
  const Linear* projections = nullptr;  // C to 4 D + C: map_a, map_b, gate_a, gate_b, gate
  const Linear* map_out = nullptr;      // D to C
  bool outgoing = true;
  Tensor workspace;  // f32 [triangle_workspace() / 4], aligned to 256 bytes; contents are lost
  Tensor residual;   // of out's type [N * N, C], or empty; may be z's or out's memory
  Tensor out;        // f32 or operand [N * N, C], rows of any distance; z's memory if of its type
};
BIOGPU_DECLARE_OP(triangle_product, TriangleProduct);

// Bytes of the workspace, for any context.
std::size_t triangle_workspace(std::int64_t n, std::int64_t c, std::int64_t d, DType operand);

}  // namespace biogpu::ops
