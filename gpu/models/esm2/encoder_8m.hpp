#pragma once

#include <cstdint>

#include "gpu/ops/elements.hpp"
#include "gpu/prim/number16_type.hpp"
#include "gpu/rt/stream.hpp"

namespace biogpu::gpu::esm2 {

using namespace ops;  // NOLINT(google-build-using-namespace): rows and numbers of gpu/ops

// A whole encoder with normalisation in front (ESM-2) in one launch, for batches so small that what
// counts is how soon the next step can begin.

struct Encoder8mShape {
  int d = 0;
  int n_heads = 0;
  int head = 0;
  int d_ffn = 0;
  int n_layers = 0;
};

// Whether there is such a kernel for the shape on the stream's device.
bool suits_encoder_8m(const Encoder8mShape& shape, const Stream& stream);
// Groups of blocks that run at the same time: what a launch may have.
int encoder_groups(const Encoder8mShape& shape, const Stream& stream);

// The weights of a layer: [n_out, n_in] each, rows n_in apart.
struct EncoderWeights {
  const std::uint16_t* qkv = nullptr;            // [3 d, d]
  const std::uint16_t* projection = nullptr;     // [d, d]
  const std::uint16_t* up = nullptr;             // [d_ffn, d]
  const std::uint16_t* down = nullptr;           // [d, d_ffn]
  const float* qkv_bias = nullptr;               // [3 d]
  const float* projection_bias = nullptr;        // [d]
  const float* up_bias = nullptr;                // [d_ffn]
  const float* down_bias = nullptr;              // [d]
  const float* attention_norm_weight = nullptr;  // [d]
  const float* attention_norm_bias = nullptr;
  const float* ffn_norm_weight = nullptr;
  const float* ffn_norm_bias = nullptr;
  const float* next_norm_weight = nullptr;  // of the normalisation behind the layer
};

// Bytes of all layers' weights, and numbers of all layers' vectors, in the kernel's order.
std::size_t encoder_weights_bytes(const Encoder8mShape& shape);
std::size_t encoder_vectors_count(const Encoder8mShape& shape);
// Puts one layer's in that order.
void launch_pack_small_weights(const Encoder8mShape& shape, int layer,
                               const EncoderWeights& weights, Number16 type, void* packed,
                               float* vectors, Stream& stream);

struct Encoder8mArgs {
  Encoder8mShape shape;
  const void* packed = nullptr;
  const float* vectors = nullptr;
  // x = table[ids] * scale; scale not given: 1.
  const float* table = nullptr;          // [V, d]
  const std::int32_t* ids = nullptr;     // [T]
  const float* scale = nullptr;          // [T]
  const std::int32_t* starts = nullptr;  // [n_sequences + 1], in device memory
  int n_sequences = 0;
  int n_groups = 0;                // at least encoder_group_count() of the sequences
  const float* cos_sin = nullptr;  // [P, head]
  float score_scale = 1;
  float eps = 1e-5f;                   // of all normalisations
  const float* norm_weight = nullptr;  // of the last one
  const float* norm_bias = nullptr;
  Rows out;              // [T, d] f32: normalised
  Rows out_operand;      // [T, d]: the same
  void* room = nullptr;  // encoder_room_bytes(), clear_small_room() before the first launch
};

// Tokens of one sequence that a group of blocks takes.
inline constexpr std::int64_t kEncoderRows = 16;
// Groups that sequences of n_tokens together take at most.
constexpr std::int64_t encoder_group_count(std::int64_t n_tokens, std::int64_t n_sequences) {
  return (n_tokens + (kEncoderRows - 1) * n_sequences) / kEncoderRows;
}
std::size_t encoder_room_bytes(const Encoder8mShape& shape, int n_groups);
void clear_small_room(void* room, std::size_t bytes, Stream& stream);

void launch_encoder_8m(const Encoder8mArgs& args, Number16 type, Stream& stream);

}  // namespace biogpu::gpu::esm2
