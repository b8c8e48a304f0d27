#pragma once

#include <vector>

#include "lib/ops/attention/qkv_rotary.hpp"
#include "lib/ops/declare.hpp"

namespace biogpu::models::esm2 {

using ops::Context;
using ops::CpuContext;
using ops::Linear;
using ops::Norm;
using ops::Ragged;
using ops::Tensor;

// A block: x += attention_out(attention(qkv(norm(x)))), x += ffn_down(gelu(ffn_up(norm(x)))).
struct EncoderBlock {
  const Linear* qkv = nullptr;  // n_out = 3 d
  const Linear* attention_out = nullptr;
  const Linear* ffn_up = nullptr;
  const Linear* ffn_down = nullptr;
  Norm attention_norm;
  Norm ffn_norm;
};

// The whole encoder, x = table[ids] * scale, its blocks, and the normalisation behind them, in one
// kernel: for models as small as ESM-2 8M over so few tokens that what counts is how soon the next
// step can begin. *ran is set to whether the device has such a kernel for this shape and batch;
// where it has none, nothing was queued.
struct Encode8m {
  Tensor table;                      // f32 [V, d]
  std::vector<EncoderBlock> blocks;  //
  Norm final_norm;                   //
  std::int64_t n_heads = 0;          //
  ops::Rotary rotary;                // cos_sin empty: none
  float score_scale = 1;             //
  Tensor ids;                        // i32 [T]
  Tensor scale;                      // f32 [T], or empty: 1
  const Ragged* segments = nullptr;  //
  Tensor x;                          // f32 [T, d]: normalised at the end
  Tensor h;                          // operand [T, d]: the same
  bool* ran = nullptr;
};
BIOGPU_DECLARE_OP(encode_8m, Encode8m);

}  // namespace biogpu::models::esm2
