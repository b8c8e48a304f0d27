#pragma once

#include <cstdint>

#include "gpu/ops/elements.hpp"

namespace biogpu::gpu::ops {

// Heads of batch rows: rows.stride from one query or key to the next.
struct DotHeads {
  Rows rows;
  std::int64_t batch = 0, head = 0;
};

struct DotProductArgs {
  DotHeads q, k, v, out;
  std::int64_t n_batches = 0;
  int n_queries = 0, n_keys = 0, n_heads = 0;
  int heads_of_key = 1;      // heads of queries that share one of keys and values
  int head = 0, head_v = 0;  // multiples of 8, up to 192
  float scale = 1;           // times log2 e, as soft_cap and masked are
  float soft_cap = 0;        // 0: none
  // Element (b, head, i, j) at (b mod bias_batches) bias_stride[0] + head bias_stride[1] +
  // i / bias_block bias_stride[2] + j / bias_block bias_stride[3]. data == nullptr: none.
  Rows bias;
  std::int64_t bias_batches = 1;
  std::int64_t bias_stride[4] = {0, 0, 0, 0};
  int bias_block = 1;
  // Numbers of an even and the next key can be read at once, and the number of keys is even.
  bool bias_pairs = false;
  const std::int32_t* key_lengths = nullptr;  // [n_batches], or not given
  const void* key_mask = nullptr;             // u8 or f32, or not given
  bool mask_is_f32 = false;
  std::int64_t mask_batch = 0, mask_key = 0;  // from one batch row and key to the next
  float masked = 0;
  float* log_sum_exp = nullptr;  // or not given
  std::int64_t sums_batch = 0, sums_head = 0;
  // Notes of another kernel, or not given: redo[0], whether anything is to be computed here, and
  // redo[1 + (b n_heads + head) redo_tiles + i], whether queries 64 i to 64 i + 63 are.
  const std::int32_t* redo = nullptr;
  int redo_tiles = 0;
};

}  // namespace biogpu::gpu::ops
