#pragma once

#include <cstdint>

#include "lib/models/molscribe/ops/select_token.hpp"

namespace biogpu::models::molscribe {

using ops::Norm;

// Where the weights of a layer of the decoder lie in its row of DecodeSteps::layers: maps as
// [n_out, n_in] and then their bias, norms as weight and bias, in this order.
struct DecoderLayout {
  std::int64_t self_norm, qkv, self_out;  // qkv: q, k and v, [3 d, d]
  std::int64_t cross_norm, q, cross_out;
  std::int64_t ffn_norm, up, down;  // up: [4 d, d]
  std::int64_t size;
};
constexpr DecoderLayout decoder_layout(std::int64_t d) {
  const std::int64_t norm = 2 * d, square = d * d + d;
  DecoderLayout at{};
  at.self_norm = 0;
  at.qkv = at.self_norm + norm;
  at.self_out = at.qkv + 3 * square;
  at.cross_norm = at.self_out + square;
  at.q = at.cross_norm + norm;
  at.cross_out = at.q + square;
  at.ffn_norm = at.cross_out + square;
  at.up = at.ffn_norm + norm;
  at.down = at.up + 4 * square;
  at.size = at.down + 4 * d * d + d;
  return at;
}

// Up to n_steps tokens of B rows without the host: all layers of the decoder, select_token, and the
// next step with the token that it chose. A row that is at its end stays as it is. Of layer l with
// its caches, each with a residual:
//   x += W_o attend(q, own keys and values, this one included), q k v of norm x
//   x += W_o attend(q of norm x, the picture's keys and values)
//   x += W_down gelu(W_up norm x)
// and then hidden = norm x, logits = W hidden + b. (Qian et al. 2023, MolScribe, doi
// 10.1021/acs.jcim.2c01480)
struct DecodeSteps {
  std::int64_t n_steps = 0, n_heads = 0;
  Tensor layers;           // f32 [L, DecoderLayout::size]
  float eps = 1e-6f;       // of every norm
  Tensor table;            // f32 [V, d]: what a token begins with
  Norm last_norm;          // its eps is not read
  Tensor head, head_bias;  // f32 [V, d], f32 [V]
  Tensor own;              // f32 [L, B * capacity, 2 d]: keys and values, in place
  Tensor memory;           // f32 [B * M, 2 d L]: of the picture, keys and values of each layer
  SelectToken state;       // without logits and hidden
  // Multiprocessors that share a row's work on a GPU, as a power of two in eights: 8, 16 or 32;
  // rows that they take together: 1, 2 or 4. 0: chosen by the number of rows. No result depends on
  // either.
  int n_sharing = 0, n_together = 0;
};
BIOGPU_DECLARE_OP(decode_steps, DecodeSteps);

// Whether GPUs have decode_steps for a decoder of this shape; every other one runs single
// operations.
constexpr bool can_decode_steps(std::int64_t width, std::int64_t n_heads, std::int64_t n_tokens,
                                std::int64_t n_memory) {
  return width == 256 && n_heads == 8 && n_tokens <= 256 && n_memory <= 144;
}

}  // namespace biogpu::models::molscribe
