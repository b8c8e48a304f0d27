#pragma once

#include "lib/ops/declare.hpp"

namespace biogpu::ops {

// y[..., m, n] = scale * sum over k of a[..., m, k] * b[..., k, n]: products of two activations.
//
// All three have 2 to 5 axes of any strides, so that a transposed operand is a view
// (lib/tensor/views.hpp) and no copy. In front of the last two lie up to three batch axes; where
// those of a or b have one number, it serves all of y. M, N and K are any, 0 included.
//
// For a, b [c, N, N] the triangle multiplications (AlphaFold 2, supplement 1.6.5) are
//   outgoing  x[c,i,j] = sum_k a[c,i,k] b[c,j,k]   matmul(context, {a, transposed(b), x})
//   incoming  x[c,i,j] = sum_k a[c,k,i] b[c,k,j]   matmul(context, {transposed(a), b, x})
// and with channels last, [N, N, c], the same with permuted(a, {2, 0, 1}), b and x likewise.
// The outer product o[i,j,p,q] = sum_s A[s,i,p] B[s,j,q] of A [S, I, P] and B [S, J, Q] is
//   y [I * P, J * Q]  matmul(context, {transposed(merge_axes(A, 1)), merge_axes(B, 1), y})
//   o                 permuted(split_axis(split_axis(y, 1, Q), 0, P), {0, 2, 1, 3})
// The scores of heads q, k [T, H, h] are, with q = permuted(q, {1, 0, 2}) and k likewise,
// matmul(context, {q, transposed(k), scores, 1 / sqrt(h)}).
//
// Sums are fp32, in the order of k, for every batch, number of threads and grid.
// Emulated waves of 32 and 64 give the same bytes. GPUs multiply fp32 numbers as sums of two fp16
// numbers, scaled by the largest of 32 neighbours in k: the error of a product is about 2^-21 of
// the largest of these of its row and of its column.
struct Matmul {
  Tensor a;         // f32, f16 or bf16 [..., M, K]
  Tensor b;         // a's type [..., K, N]
  Tensor y;         // f32, f16 or bf16 [..., M, N], not the memory of a or b
  float scale = 1;  // of the sums
};
BIOGPU_DECLARE_OP(matmul, Matmul);

}  // namespace biogpu::ops
