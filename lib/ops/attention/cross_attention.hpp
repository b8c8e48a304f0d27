#pragma once

#include "lib/ops/declare.hpp"

namespace biogpu::ops {

// softmax(scale q k^T) v, softmax in fp32: each segment of queries sees keys that are elsewhere, as
// the rows of an encoder or of a cache. Made for few queries a segment; `attention` is for rows
// that see each other. (Vaswani et al. 2017, arXiv 1706.03762; shared keys: Ainslie et al. 2023,
// arXiv 2305.13245) h: any; GPUs: up to 128. A query that sees no key gets 0.
struct CrossAttention {
  Tensor q;  // operand [T, H, h], rows of any distance
  Tensor k;  // operand [*, G, h], rows of any distance; v the same
  Tensor v;  // H is a multiple of G: query head i uses key head i / (H / G)
  float scale = 1;
  const Ragged* queries = nullptr;
  // Segment s sees rows [key_starts[s], key_starts[s] + key_counts[s]), without counts all up to
  // key_starts[s + 1]. In the context's memory and read when the operation runs, so that one
  // captured graph serves every step of a cache that grows.
  Tensor key_starts;  // i32 [S + 1]
  Tensor key_counts;  // i32 [S], or empty
  // The last query of a segment sees all its keys, each one before it one key less.
  bool causal = false;
  Tensor out;  // operand [T, H * h], rows of any distance
};
BIOGPU_DECLARE_OP(cross_attention, CrossAttention);

}  // namespace biogpu::ops
