#pragma once

#include "lib/ops/declare.hpp"

namespace biogpu::ops {

// Attention with a learned term of the distance between query i and key j of one segment, for each
// head by itself, softmax over j in fp32:
//   logit[i, j] = (q_i + content_bias) k_j + (q_i + position_bias) relative[j - i + M - 1]
//   out_i = sum_j softmax_j(logit[i, j]) v_j
// (Dai et al. 2019, Transformer-XL, arXiv 1901.02860; Avsec et al. 2021, Enformer,
// doi:10.1038/s41592-021-01252-x.) The biases are added to q as it is: q holds the scale.
// d_k and d_v: any; GPUs: d_k up to 64.
struct RelativeAttention {
  Tensor q;              // operand [T, H, d_k], rows of any distance
  Tensor k;              // operand [T, H, d_k], rows of any distance
  Tensor v;              // operand [T, H, d_v], rows of any distance
  Tensor content_bias;   // f32 [H, d_k]
  Tensor position_bias;  // f32 [H, d_k]
  // operand [H, 2 M - 1, d_k], contiguous: row r + M - 1 is that of distance r = j - i. No segment
  // has more than M rows.
  Tensor relative;
  const Ragged* segments = nullptr;
  Tensor out;  // operand [T, H * d_v], rows of any distance
};
BIOGPU_DECLARE_OP(relative_attention, RelativeAttention);

}  // namespace biogpu::ops
