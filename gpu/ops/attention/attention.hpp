#pragma once

#include <cstdint>

#include "gpu/ops/elements.hpp"
#include "gpu/ops/query_tiles.hpp"
#include "gpu/rt/stream.hpp"

namespace biogpu::gpu::ops {

// softmax(scale q k^T + bias) v for each sequence and head.
struct AttentionArgs {
  // q: [T, n_heads, head]; head j of a row begins at element j * head_stride. k and v: [T, n_heads
  // / heads_of_key, head or head_v]. fp16 or bf16: multiplied as they are. f32: as sums of two fp16
  // numbers, three products for one.
  Rows q, k, v;
  std::int64_t n_rows = 0;  // T; not given: the portable kernel
  std::int64_t head_stride = 0, key_head_stride = 0, value_head_stride = 0;
  int n_heads = 0;
  int heads_of_key = 1;      // heads of queries that share one of keys and values
  int head = 0, head_v = 0;  // multiples of 8, up to 192
  float scale = 1;
  // Added to the scaled score; element (s, head, i, j) at s bias_stride[0] + head bias_stride[1] +
  // i bias_stride[2] + j, strides of 0 for axes that are shared. data == nullptr: none.
  Rows bias;
  std::int64_t bias_stride[3] = {0, 0, 0};
  float soft_cap = 0;            // of the scaled scores with their bias; 0: none
  Rows out;                      // [T, n_heads * head_v]
  float* log_sum_exp = nullptr;  // [n_heads, log_sum_exp_stride], or not given
  std::int64_t log_sum_exp_stride = 0;
  const QueryTile* tiles = nullptr;  // [*n_tiles], in device memory
  const std::int32_t* n_tiles = nullptr;
};

void launch_attention(const AttentionArgs& args, Stream& stream);
// Of f32 rows.
void launch_attention_split(const AttentionArgs& args, Stream& stream);

}  // namespace biogpu::gpu::ops
