// Attention with a term of the distance between query and key, without a tensor of scores or of
// distances for each query.
//
// Shapes   see lib/ops/attention/relative_attention.hpp.
// Mapping  a block takes 128 queries of one head (64 in fp32 and where waves are of 64), 16 for
// each
//          wave, and up to 192 columns of its values; keys, values and the band of distances pass
//          through shared memory in steps of 32 keys (16 in fp32). The band is a ring: a step adds
//          as many distances as keys. A wave multiplies its queries with the 48 distances of a
//          step, writes the product by rows and reads it along the diagonals. As many blocks as fit
//          stay and take tile after tile.
// Traffic  with 16-bit operands 2 n (2 d_k + 2 d_v) bytes a head for q, k, v and out, and keys,
// values
//          and n + 127 distances again for each tile of 128 queries, from L2; 2 n^2 (2.5 d_k + d_v)
//          operations for n tokens and a head. Enformer (1,536 tokens, 8 heads of 64 and 192): 13.3
//          GFLOP, 17 us at 800 TFLOP/s, for which L2 is asked for 90 MB: bound by both alike.
// Result   fp32 softmax with running maxima; the order of sums depends on the segment alone.
// Limits   keys of up to 64 numbers; more than 192 numbers of values repeat the scores. Widths
// other
//          than multiples of 8 are padded.
// Source   Dai et al. 2019, Transformer-XL, arXiv 1901.02860 (the term); own (the skewed read).
// Oracle   relative_attention_ref, lib/ops/attention/relative_attention_ref.cpp.
#include "lib/ops/attention/relative_attention.hpp"

#include "gpu/ops/attention/head_limits.hpp"
#include "gpu/ops/attention/relative_attention_tile.hpp"
#include "gpu/ops/device.hpp"
#include "gpu/ops/gather/padded_heads.hpp"
#include "gpu/rt/device.hpp"
#include "gpu/rt/kernel.hpp"

namespace biogpu::gpu::ops {
namespace {

template <class Shape>
__global__ __launch_bounds__(Shape::kThreads) void relative_attention_kernel(
    RelativeAttentionArgs a) {
  BIOGPU_DYNAMIC_SHARED(std::uint16_t, shared);
  constexpr int kPieces = kQueryRows / Shape::kRows;
  const int n_columns = (a.d_v + Shape::kHeadV - 1) / Shape::kHeadV;
  const int n_items = *a.n_tiles * a.n_heads * kPieces * n_columns;
  for (int item = static_cast<int>(blockIdx.x); item < n_items;
       item += static_cast<int>(gridDim.x)) {
    const int columns = item % n_columns, head = item / n_columns % a.n_heads,
              piece = item / n_columns / a.n_heads;
    RelativePlace at{a.tiles[piece / kPieces], head, columns * Shape::kHeadV};
    at.tile.first += piece % kPieces * Shape::kRows;
    if (at.tile.first < at.tile.length) relative_attention_tile<Shape>(a, at, shared);
  }
}

template <class Shape>
void launch_relative_shape(const RelativeAttentionArgs& a, Stream& stream) {
  constexpr std::size_t kBlocksOfMultiprocessor = 6;  // resident or soon to be
  stream.launch_shared(
      relative_attention_kernel<Shape>,
      kBlocksOfMultiprocessor * static_cast<std::size_t>(stream.n_multiprocessors()),
      Shape::kThreads, Shape::kSharedBytes, a);
}

// The shared memory that a block may have.
struct RelativeRoom {
  explicit RelativeRoom(Device&)
      : bytes(device_properties(current_device()).shared_bytes_per_block) {}
  std::uint64_t bytes;
};

template <int kWave, Number16 kType, int kParts>
void launch_relative_heads(const RelativeAttentionArgs& a, Device& device) {
  Stream& stream = device.stream();
  if (a.d_k <= 32 && a.d_v <= 64)
    return launch_relative_shape<RelativeShape<kWave, kType, 32, 64, kParts, false>>(a, stream);
  if constexpr (kWave == 32 && kParts == 1) {
    using Large = RelativeShape<kWave, kType, 64, 192, kParts, true>;
    if (Large::kSharedBytes <= device.state<RelativeRoom>().bytes)
      return launch_relative_shape<Large>(a, stream);
  }
  launch_relative_shape<RelativeShape<kWave, kType, 64, 192, kParts, false>>(a, stream);
}

void launch_relative_attention(const RelativeAttentionArgs& a, Device& device) {
  with_matrix_wave(device.stream().wave_width(), [&](auto wave) {
    if (a.q.type == Element::f32) {
      launch_relative_heads<wave, Number16::fp16, 2>(a, device);
    } else if (a.q.type == Element::fp16) {
      launch_relative_heads<wave, Number16::fp16, 1>(a, device);
    } else {
      launch_relative_heads<wave, Number16::bf16, 1>(a, device);
    }
  });
}

}  // namespace

void relative_attention(Device& device, const biogpu::ops::RelativeAttention& op) {
  require_heads("relative_attention", {op.q.shape[2]}, 64);
  if (run_with_padded_heads(device, op, relative_attention)) return;
  RelativeAttentionArgs args{};
  args.q = rows_of(op.q);
  args.k = rows_of(op.k);
  args.v = rows_of(op.v);
  args.q_head = op.q.stride[1];
  args.k_head = op.k.stride[1];
  args.v_head = op.v.stride[1];
  args.content_bias = op.content_bias.as<float>();
  args.position_bias = op.position_bias.as<float>();
  args.content_stride = op.content_bias.stride[0];
  args.position_stride = op.position_bias.stride[0];
  args.relative = {op.relative.data, op.relative.stride[1], element_of(op.relative.dtype)};
  args.n_distances = static_cast<int>(op.relative.shape[1]);
  args.n_heads = static_cast<int>(op.q.shape[1]);
  args.d_k = static_cast<int>(op.q.shape[2]);
  args.d_v = static_cast<int>(op.v.shape[2]);
  args.out = rows_of(op.out);
  const RaggedPlan& plan = device.plan(*op.segments);
  args.tiles = plan.tiles();
  args.n_tiles = plan.n_tiles();
  launch_relative_attention(args, device);
}

}  // namespace biogpu::gpu::ops
