#pragma once

#include <limits>

#include "lib/ops/declare.hpp"

namespace biogpu::ops {

// Attention of B rows by themselves, I queries and J keys each. For batch row b, head n, query i:
//   logit_j = cap(scale q_i k_j + bias_ij), masked_value where key j is masked;
//   out_i = sum_j softmax_j(logit) v_j
// cap(x) = soft_cap tanh(x / soft_cap), x where there is none; softmax in fp32 with running maxima.
// A bias or masked_value below -1e29 counts as minus infinity: it weighs nothing, and a query that
// has no other logit gets 0 and a logarithm of minus infinity. (Dao et al. 2022,
// arXiv 2205.14135; shared keys: Ainslie et al. 2023, arXiv 2305.13245) Where rows see their own
// segment, `attention` is faster on long segments.
//
// All axes but the last of q, k, v and out have any strides, so that rows and columns of a pair
// tensor are views of it. h and h_v: any; GPUs: up to 192. out overlaps none of the inputs: kernels
// may read queries again after they have written results of others.
struct DotProductAttention {
  Tensor q;  // operand [B, I, H, h]
  Tensor k;  // operand [B, J, G, h]
  Tensor v;  // operand [B, J, G, h_v]; H is a multiple of G: head n uses key head n / (H / G)
  float scale = 1;
  // f32 or operand, or empty. [P, H or 1, I or 1, J or 1], every axis of any stride; an axis of
  // size 1 is shared by all. B is a multiple of P: row b uses bias b mod P. With bias_block = n,
  // the last two axes are in blocks of n queries and n keys: [P, H, ceil(I / n), ceil(J / n)].
  Tensor bias;
  std::int64_t bias_block = 1;
  Tensor key_lengths;  // i32 [B], or empty: number of valid keys of each batch row; at most J count
  // u8 or f32 [B or 1, J], both axes of any stride, or empty: key j is masked where it is 0.
  Tensor key_mask;
  // What a masked key's logit becomes. Finite, as -1e9: a query whose keys are all masked weighs
  // them equally.
  float masked_value = -std::numeric_limits<float>::infinity();
  float soft_cap = 0;  // 0: none
  Tensor out;          // operand [B, I, H, h_v]
  Tensor log_sum_exp;  // f32 [B, H, I], rows of any distance, or empty: log sum_j exp(logit_j)
};
BIOGPU_DECLARE_OP(dot_product_attention, DotProductAttention);

}  // namespace biogpu::ops
