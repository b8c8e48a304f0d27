#pragma once

#include "lib/ops/declare.hpp"

namespace biogpu::ops {

// softmax(cap(scale q k^T + bias)) v for each segment and head by itself, softmax in fp32 with
// running maxima. (Dao et al. 2022, arXiv 2205.14135) cap(x) = soft_cap tanh(x / soft_cap), x where
// there is none. h and h_v: any; GPUs: up to 192. H is a multiple of G: query head i uses key head
// i / (H / G).
struct Attention {
  Tensor q;  // operand [T, H, h], rows of any distance
  Tensor k;  // operand [T, G, h], rows of any distance
  Tensor v;  // operand [T, G, h_v], rows of any distance
  float scale = 1;
  // operand [n_segments or 1, H or 1, L, L], or empty; L = max_length, an axis of size 1 is shared
  // by all. Element (s, head, i, j) is added to the scaled score of row i for row j.
  Tensor bias;
  const Ragged* segments = nullptr;
  Tensor out;          // operand [T, H * h_v], rows of any distance
  Tensor log_sum_exp;  // f32 [H, T], or empty: log sum_j exp(score_ij)
  float soft_cap = 0;  // 0: none. A mask in the bias is capped, too
};
BIOGPU_DECLARE_OP(attention, Attention);

}  // namespace biogpu::ops
