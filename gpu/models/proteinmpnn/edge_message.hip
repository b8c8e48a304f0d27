// What nodes gather from their edges, and their new state.
//
// Shapes   see lib/models/proteinmpnn/ops/edge_message.hpp; d 128, K up to 48.
// Mapping  a block a node, a wave 16 columns. An edge's inputs, the hidden layers of its message
//          and the sums stay in shared memory and registers, as does the node through all layers
//          that follow.
// Traffic  a node: 24 KiB of edges, 24 KiB of senders' parts; from L2 128 KiB of packed weights (64
//          where edges are multiplied already) and 0.6 to 1.1 MiB of weights of the node's own
//          layers. Bound by L2.
// Result   within 1e-5 of double precision; independent of other nodes.
// Limits   kMaxNeighbours.
// Source   Dauparas et al. 2022, doi 10.1126/science.add2187.
// Oracle   edge_message_ref, lib/models/proteinmpnn/ops/edge_message_ref.cpp.
#include "lib/models/proteinmpnn/ops/edge_message.hpp"

#include "gpu/models/proteinmpnn/edge_limits.hpp"
#include "gpu/models/proteinmpnn/edge_rows.hpp"
#include "gpu/ops/device.hpp"
#include "gpu/rt/kernel.hpp"

namespace biogpu::gpu::proteinmpnn {
namespace edges {
namespace {

struct NextArgs {
  Columns linear;
  const float* table;  // or none
  const std::int32_t* ids;
  float* out;
  std::int64_t stride;
};

struct MessageArgs {
  const float* edges;
  std::int64_t node_stride, edge_stride;
  const std::int32_t* edge_rows;  // or none
  const std::int32_t* counts;
  const float* receiver;
  std::int64_t receiver_stride;
  const float* sender;
  std::int64_t sender_stride;
  const std::int32_t* senders;
  int n_slots;  // K
  const std::uint8_t* present;
  bool only_present;
  Product edge, middle;
  Update update;
  const float* h;  // or none
  float* out;
  NextArgs next[2];
};

struct Senders {
  std::int32_t row[kMaxNeighbours];
  std::uint8_t counts[kMaxNeighbours];  // its message does
};

// A node that is present; its new state into room.h.
template <int kWave, bool kMultiplied>
__device__ __forceinline__ void gather(const MessageArgs& a, std::int64_t node, std::int64_t row,
                                       SplitRows& rows, Senders& senders, NodeRoom& room) {
  const int n = a.counts[row], n_row_tiles = (n + 15) / 16;
  const float* const edges = a.edges + row * a.node_stride;
  const float* const receiver = a.receiver + node * a.receiver_stride;
  const auto of_sender = [&](int edge) { return a.sender + senders.row[edge] * a.sender_stride; };
  Pieces<kWave> pieces = begin_product<kWave>(kMultiplied ? a.middle : a.edge);
  for (int e = static_cast<int>(threadIdx.x); e < n; e += static_cast<int>(kThreads<kWave>)) {
    const std::int32_t j = a.senders[node * a.n_slots + e];
    senders.row[e] = j;
    senders.counts[e] = a.only_present && a.present[j] == 0 ? 0 : 1;
  }
  if (threadIdx.x < kHidden)
    room.h[threadIdx.x] = a.h == nullptr ? 0.0f : a.h[node * kHidden + threadIdx.x];
  if constexpr (kMultiplied) {
    __syncthreads();
    load_messages<kWave>(edges, a.edge_stride, n, receiver, of_sender, rows);
    __syncthreads();
  } else {
    load_edges<kWave>(edges, a.edge_stride, n, n_row_tiles, rows);
    __syncthreads();
    Tiles<kWave> x = multiply_whole<kWave>(rows, n_row_tiles, pieces);
    pieces = begin_product<kWave>(a.middle);
    store_first_layer<kWave>(x, n, n_row_tiles, receiver, of_sender, rows);
  }
  int n_messages = 0;
  for (int e = 0; e < n; ++e) n_messages += senders.counts[e];
  gather_messages<kWave>(
      rows, n_row_tiles, pieces, a.middle.bias,
      [&](int edge) { return edge < n && senders.counts[edge] != 0; }, n_messages, a.update, room);
}

template <int kWave, bool kMultiplied>
__global__ BIOGPU_LAUNCH_BOUNDS(kThreads<kWave>, 2) void edge_message_kernel(MessageArgs a) {
  __shared__ SplitRows rows;
  __shared__ Senders senders;
  __shared__ NodeRoom room;
  const std::int64_t node = blockIdx.x;
  const std::int64_t row = a.edge_rows == nullptr ? node : a.edge_rows[node];
  if (a.present[row] != 0) {
    gather<kWave, kMultiplied>(a, node, row, rows, senders, room);
  } else {
    if (threadIdx.x < kHidden) room.h[threadIdx.x] = 0;
    __syncthreads();
  }
  if (threadIdx.x < kHidden) a.out[node * kHidden + threadIdx.x] = room.h[threadIdx.x];
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const NextArgs& next = a.next[i];
    if (next.out == nullptr) continue;
    const float* const added = next.table == nullptr
                                   ? nullptr
                                   : next.table + std::int64_t{next.ids[node]} * next.linear.n_out;
    float* const to = next.out + node * next.stride;
    project_node<kWave>(next.linear, room, [&](int o, float value) {
      to[o] = added == nullptr ? value : value + added[o];
    });
  }
}

MessageArgs args_of(const models::proteinmpnn::EdgeMessage& op) {
  MessageArgs a{};
  a.edges = op.edges.as<float>();
  a.node_stride = op.edges.stride[0];
  a.edge_stride = op.edges.stride[1];
  a.edge_rows = op.edge_rows.as<std::int32_t>();
  a.counts = op.counts.as<std::int32_t>();
  a.receiver = op.receiver.as<float>();
  a.receiver_stride = op.receiver.stride[0];
  a.sender = op.sender.as<float>();
  a.sender_stride = op.sender.stride[0];
  a.senders = op.senders.as<std::int32_t>();
  a.n_slots = static_cast<int>(op.senders.shape[1]);
  a.present = op.present.as<std::uint8_t>();
  a.only_present = op.only_present;
  a.edge = product_of(op.edge);
  a.middle = product_of(op.middle);
  a.update = update_of(op.update);
  a.h = op.h.as<float>();
  a.out = op.out.as<float>();
  for (int i = 0; i < 2; ++i) {
    const auto& next = op.next[i];
    if (next.linear == nullptr) continue;
    a.next[i] = {columns_of(next.linear), next.table.as<float>(), next.ids.as<std::int32_t>(),
                 next.out.as<float>(), next.out.stride[0]};
  }
  return a;
}

}  // namespace
}  // namespace edges

void edge_message(ops::Device& device, const models::proteinmpnn::EdgeMessage& op) {
  const auto n_nodes = static_cast<std::size_t>(op.out.shape[0]);
  require_width("edge_message", op.out.shape[1], edges::kHidden);
  require_neighbours("edge_message", op.senders.shape[1], edges::kMaxNeighbours);
  if (n_nodes == 0) return;
  Stream& stream = device.stream();
  with_matrix_wave(stream.wave_width(), [&](auto wave) {
    const auto kernel = op.edge == nullptr ? edges::edge_message_kernel<wave(), true>
                                           : edges::edge_message_kernel<wave(), false>;
    stream.launch(kernel, n_nodes, edges::kThreads<wave()>, edges::args_of(op));
  });
}

}  // namespace biogpu::gpu::proteinmpnn
