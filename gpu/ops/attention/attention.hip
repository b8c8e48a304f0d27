// Attention over sequences of any length, without padding and without the matrix of scores.
//
// Shapes   see attention.hpp.
// Mapping  a block takes tiles of 128 or 64 queries of one head, 32 or 16 for each of its 4 waves;
//          keys and values pass through shared memory in steps that the next one's copies overlap.
//          As many blocks as fit stay and take tile after tile from the work list.
// Traffic  8 bytes per number of q, k, v and out with 16-bit operands, keys and values again for
//          each tile of queries, from L2; 4 n^2 head operations for n tokens and a head: compute
//          bound from n = 100 or so.
// Result   fp32 softmax with running maxima; the order of sums depends on the sequence alone.
// Limits   head up to 192; other than multiples of 8 are padded.
// Source   Dao 2023, FlashAttention-2, arXiv 2307.08691; the layout of the weights of the second
//          product: own.
// Oracle   make_reference_context, lib/ops/reference_context.hpp.
#include "gpu/ops/attention/attention.hpp"

#include <algorithm>

#include "gpu/ops/attention/attention_kernel.hpp"
#include "gpu/ops/attention/attention_warpgroup.hpp"
#include "gpu/ops/attention/head_limits.hpp"
#include "gpu/ops/device.hpp"
#include "gpu/ops/gather/padded_heads.hpp"
#include "lib/ops/attention/attention.hpp"

namespace biogpu::gpu::ops {

std::vector<QueryTile> query_tiles(std::span<const std::int32_t> starts) {
  std::vector<QueryTile> tiles;
  for (std::size_t s = 0; s + 1 < starts.size(); ++s) {
    const std::int32_t length = starts[s + 1] - starts[s];
    for (std::int32_t first = 0; first < length; first += kQueryRows)
      tiles.push_back({starts[s], length, first, static_cast<std::int32_t>(s)});
  }
  std::stable_sort(tiles.begin(), tiles.end(),
                   [](const QueryTile& x, const QueryTile& y) { return x.length > y.length; });
  return tiles;
}

void launch_attention(const AttentionArgs& a, Stream& stream) {
  if (launch_attention_warpgroup(a, stream)) return;
  if (a.q.type == Element::f32) return launch_attention_split(a, stream);
  with_matrix_wave(stream.wave_width(), [&](auto wave) {
    if (a.q.type == Element::fp16) {
      launch_head<wave, Number16::fp16, 1>(a, stream);
    } else {
      launch_head<wave, Number16::bf16, 1>(a, stream);
    }
  });
}

void attention(Device& device, const biogpu::ops::Attention& op) {
  require_heads("attention", {op.q.shape[2], op.v.shape[2]}, 192);
  if (run_with_padded_heads(device, op, attention)) return;
  AttentionArgs args;
  args.q = rows_of(op.q);
  args.k = rows_of(op.k);
  args.v = rows_of(op.v);
  args.head_stride = op.q.stride[1];
  args.key_head_stride = op.k.stride[1];
  args.value_head_stride = op.v.stride[1];
  args.n_heads = static_cast<int>(op.q.shape[1]);
  args.heads_of_key = static_cast<int>(op.q.shape[1] / op.k.shape[1]);
  args.head = static_cast<int>(op.q.shape[2]);
  args.head_v = static_cast<int>(op.v.shape[2]);
  args.soft_cap = op.soft_cap;
  args.scale = op.scale;
  args.log_sum_exp = op.log_sum_exp.as<float>();
  args.log_sum_exp_stride = op.log_sum_exp.stride[0];
  args.n_rows = op.q.shape[0];
  args.out = rows_of(op.out);
  if (!op.bias.empty()) {
    args.bias = {op.bias.data, 1, element_of(op.bias.dtype)};
    for (std::size_t axis = 0; axis < 3; ++axis)
      if (op.bias.shape[axis] > 1) args.bias_stride[axis] = op.bias.stride[axis];
  }
  const RaggedPlan& plan = device.plan(*op.segments);
  args.tiles = plan.tiles();
  args.n_tiles = plan.n_tiles();
  launch_attention(args, device.stream());
}

}  // namespace biogpu::gpu::ops
