// Tokens of MolScribe's decoder, many steps of all layers in one launch.
//
// Shapes   see DecodeSteps, lib/models/molscribe/ops/decode_steps.hpp; d 256, 8 heads, 1024 hidden
//          units, up to 256 tokens and 144 rows of a picture.
// Mapping  a group of 8, 16 or 32 blocks takes 1, 2 or 4 rows. A block has a head and an eighth of
//          the hidden units, or a share of their outputs where more blocks than heads work. It
//          keeps x of its rows in full and posts its part of what is added to x, 19 times a token;
//          every block reads the parts of all. Weights of a phase are loaded into registers before
//          the parts of the last one have come. Own keys are written by every block of a head.
// Traffic  a token: 22 MB of weights from L2 for a group of 8, 40 MB for 32, each of which makes
//          q, k and v of its head; 3.5 MB of a picture's and own keys and values. Bound by the 19
//          exchanges and the chains of dependent instructions between them.
// Result   fp32 to rounding; a row's bytes do not depend on other rows, the number of blocks of a
//          group or of rows that it takes together.
// Limits   can_decode_steps(). Where blocks cannot wait for each other, a block takes a row alone.
// Source   own; parts that need no flags are those of gpu/prim/block_group.hpp.
// Oracle   decode_steps_ref, lib/models/molscribe/ops/decode_steps_ref.cpp.
#include <algorithm>
#include <limits>
#include <span>

#include "gpu/models/molscribe/decoder_ffn.hpp"
#include "gpu/ops/device.hpp"
#include "gpu/rt/device.hpp"
#include "gpu/rt/kernel.hpp"

namespace biogpu::gpu::molscribe {
namespace {

using models::molscribe::DecodeSteps;

template <int kWave, int kRows, int kShare>
__global__ __launch_bounds__(kThreads) void decode_steps_kernel(DecodeArgs a, int n_sharing) {
  BIOGPU_DYNAMIC_SHARED(DecoderRoom<kRows>, room);
  const int index = static_cast<int>(blockIdx.x), thread = static_cast<int>(threadIdx.x);
  const int group = index / n_sharing, in_group = index % n_sharing;
  const DecoderBlock<kWave, kRows, kShare> b{
      a,
      *room,
      a.exchange + group * std::int64_t{kExchangeWords<kRows, kShare>},
      thread % 32,
      thread / 32,
      in_group / kShare,
      in_group % kShare,
      n_sharing == 1,
      a.first_row + group * kRows};

  const int of_warp = b.row(b.warp % kRows);
  RowState row{a.tokens[of_warp], a.lengths[of_warp], b.first_row + b.warp % kRows < a.n_rows};
  row.active = row.active && row.length < a.capacity && (row.length == 0 || row.token != a.stop);
  if (b.warp < kRows && b.lane == 0) {
    room->token[b.warp] = row.token;
    room->active[b.warp] = row.active ? 1 : 0;
    room->length[b.warp] = row.length < a.capacity ? row.length : a.capacity - 1;
  }
  stage_memory(b, 0);
  for (int step = 0; step < a.n_steps; ++step) {
    __syncthreads();
    bool any = false;
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      any = any || room->active[r] != 0;
      room->x[r][thread] = a.table[room->token[r] * kWidth + thread];
    }
    if (!any) break;
    __syncthreads();
    for (int layer = 0; layer < a.n_layers; ++layer) {
      const int parity = (step * a.n_layers + layer) & 1;
      self_attention<kWave>(b, layer, parity);
      cross_attention<kWave>(b, step, layer, parity);
      feed_forward<kWave>(b, layer, parity);
    }
    row = choose_tokens<kWave>(b, step, (step * a.n_layers + a.n_layers - 1) & 1, row);
  }
  copy_async_wait<0>();
}

using Kernel = void (*)(DecodeArgs, int);

struct Shape {
  Kernel kernel;
  int rows, share;
  std::size_t exchange_words;
};

template <int kWave, int kRows, int kShare>
constexpr Shape shape_of() {
  return {decode_steps_kernel<kWave, kRows, kShare>, kRows, kShare, kExchangeWords<kRows, kShare>};
}

std::span<const Shape> all_shapes() {
  static constexpr Shape kShapes[] = {
      shape_of<32, 1, 1>(), shape_of<32, 1, 2>(), shape_of<32, 1, 4>(),
      shape_of<32, 2, 1>(), shape_of<32, 2, 2>(), shape_of<32, 2, 4>(),
      shape_of<32, 4, 1>(), shape_of<32, 4, 2>(), shape_of<32, 4, 4>()};
  return kShapes;
}

Shape choose_shape(int rows, int share) {
  for (const Shape& shape : all_shapes())
    if (shape.rows == rows && shape.share == share) return shape;
  return all_shapes().front();
}

struct State {
  explicit State(ops::Device&)
      : shared_limit(device_properties(current_device()).shared_bytes_per_block) {}
  std::size_t shared_limit;  // of a block
  DeviceBuffer<std::uint32_t> exchange;
};

std::size_t room_bytes_of(int rows, int n_memory) {
  return rows == 1   ? room_bytes<1>(n_memory)
         : rows == 2 ? room_bytes<2>(n_memory)
                     : room_bytes<4>(n_memory);
}

// Rows of which a block's shared memory holds the picture's keys and values: 4 on Hopper, 1 or 2
// on other devices.
int max_rows_together(const State& state, int n_memory) {
  int rows = 4;
  while (rows > 1 && room_bytes_of(rows, n_memory) > state.shared_limit) rows /= 2;
  return rows;
}

// Blocks that run at the same time, of whichever shape; 0: a block cannot wait for another one.
int resident_blocks(Stream& stream, int max_rows, int n_memory) {
  if (!has_resident_blocks() || stream.wave_width() != 32) return 0;
  int n = std::numeric_limits<int>::max();
  for (const Shape& shape : all_shapes())
    if (shape.rows <= max_rows)
      n = std::min(n, max_resident_blocks(shape.kernel, stream, kThreads,
                                          room_bytes_of(max_rows, n_memory)));
  return n;
}

DecodeArgs args_of(const DecodeSteps& op) {
  const auto& state = op.state;
  DecodeArgs a{};
  a.layers = op.layers.as<float>();
  a.layer_size = op.layers.stride[0];
  a.n_layers = static_cast<int>(op.layers.shape[0]);
  a.eps = op.eps;
  a.table = op.table.as<float>();
  a.last_weight = op.last_norm.weight.as<float>();
  a.last_bias = op.last_norm.bias.as<float>();
  a.head = op.head.as<float>();
  a.head_bias = op.head_bias.as<float>();
  a.n_tokens = static_cast<int>(op.head.shape[0]);
  a.n_symbols = state.rule.n_symbols;
  a.n_bins = state.rule.n_bins;
  a.stop = state.rule.stop;
  a.own = op.own.as<float>();
  a.own_layer = op.own.stride[0];
  a.capacity = static_cast<int>(state.history.shape[1]);
  a.memory = op.memory.as<float>();
  a.memory_stride = op.memory.stride[0];
  a.n_rows = static_cast<int>(state.tokens.shape[0]);
  a.n_memory = static_cast<int>(op.memory.shape[0]) / a.n_rows;
  a.tokens = state.tokens.as<std::int32_t>();
  a.lengths = state.lengths.as<std::int32_t>();
  a.n_keys = state.n_keys.as<std::int32_t>();
  a.history = state.history.as<std::int32_t>();
  a.log_probabilities = state.log_probabilities.as<float>();
  a.margins = state.margins.as<float>();
  a.states = state.states.as<float>();
  a.n_steps = static_cast<int>(op.n_steps);
  return a;
}

}  // namespace

void decode_steps(ops::Device& device, const DecodeSteps& op) {
  if (op.state.tokens.shape[0] == 0 || op.n_steps == 0) return;
  DecodeArgs a = args_of(op);
  Stream& stream = device.stream();
  State& state = device.state<State>();
  const int max_rows = max_rows_together(state, a.n_memory);
  const int n_resident = resident_blocks(stream, max_rows, a.n_memory);
  if (n_resident < kParts) {
    device.grow(state.exchange, static_cast<std::size_t>(a.n_rows) * kExchangeWords<1, 1>);
    a.exchange = state.exchange.data();
    const auto kernel =
        stream.wave_width() == 64 ? decode_steps_kernel<64, 1, 1> : decode_steps_kernel<32, 1, 1>;
    return stream.launch_shared(kernel, static_cast<std::size_t>(a.n_rows), kThreads,
                                room_bytes<1>(0), a, 1);
  }
  // The fewest rows a group with which all groups run at once, then the most blocks a group.
  int rows = std::min(op.n_together, max_rows), share = op.n_sharing / kParts;
  const auto n_groups = [&] { return (a.n_rows + rows - 1) / rows; };
  if (rows == 0)
    for (rows = 1; rows < max_rows && n_groups() * kParts > n_resident;) rows *= 2;
  if (share == 0)
    for (share = 4; share > 1 && n_groups() * kParts * share > n_resident;) share /= 2;
  const Shape shape = choose_shape(rows, share);
  const int n_sharing = kParts * share, n_at_once = std::max(1, n_resident / n_sharing);
  const std::size_t words =
      shape.exchange_words * static_cast<std::size_t>(std::min(n_groups(), n_at_once));
  device.grow(state.exchange, words);
  a.exchange = state.exchange.data();
  for (int group = 0; group < n_groups(); group += n_at_once) {
    const int n = std::min(n_groups() - group, n_at_once);
    a.first_row = group * rows;
    stream.fill(state.exchange.data(), 0xff, words * sizeof(std::uint32_t));
    launch_resident(stream, shape.kernel, static_cast<std::size_t>(n * n_sharing), kThreads,
                    room_bytes_of(rows, a.n_memory), a, n_sharing);
  }
}

}  // namespace biogpu::gpu::molscribe
