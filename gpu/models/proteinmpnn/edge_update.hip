// New edges of a graph from their ends.
//
// Shapes   see lib/models/proteinmpnn/ops/edge_update.hpp; d 128, K up to 48.
// Mapping  a block a node, a wave 16 columns. Edges and the hidden layers stay in shared memory and
//          registers.
// Traffic  a node: 24 KiB of edges in and out, 24 KiB of senders' parts and 192 KiB of packed
//          weights from L2; 3 * 48 * 128 * 128 products of split numbers. Bound by the matrix
//          cores where the edges lie in L2.
// Result   within 1e-5 of double precision; independent of other nodes.
// Limits   kMaxNeighbours.
// Source   Dauparas et al. 2022, doi 10.1126/science.add2187.
// Oracle   edge_update_ref, lib/models/proteinmpnn/ops/edge_update_ref.cpp.
#include "lib/models/proteinmpnn/ops/edge_update.hpp"

#include "gpu/models/proteinmpnn/edge_limits.hpp"
#include "gpu/models/proteinmpnn/edge_rows.hpp"
#include "gpu/ops/device.hpp"
#include "gpu/rt/kernel.hpp"

namespace biogpu::gpu::proteinmpnn {
namespace edges {
namespace {

struct UpdateArgs {
  float* edges;
  const std::int32_t* counts;
  int n_slots;  // K
  const float* receiver;
  std::int64_t receiver_stride;
  const float* sender;
  std::int64_t sender_stride;
  const std::int32_t* senders;
  Product edge, middle, last;
  Norm norm;
};

template <int kWave>
__global__ BIOGPU_LAUNCH_BOUNDS(kThreads<kWave>, 2) void edge_update_kernel(UpdateArgs a) {
  __shared__ SplitRows rows;
  __shared__ NormRoom norm_room;
  __shared__ std::int32_t senders[kMaxNeighbours];
  const std::int64_t row = blockIdx.x;
  const int n = a.counts[row];
  const int n_row_tiles = (n + 15) / 16;
  float* const edges = a.edges + row * a.n_slots * kHidden;
  Pieces<kWave> pieces = begin_product<kWave>(a.edge);
  for (int e = static_cast<int>(threadIdx.x); e < n; e += static_cast<int>(kThreads<kWave>))
    senders[e] = a.senders[row * a.n_slots + e];
  load_edges<kWave>(edges, kHidden, n, n_row_tiles, rows);
  __syncthreads();
  Tiles<kWave> x = multiply_whole<kWave>(rows, n_row_tiles, pieces);
  pieces = begin_product<kWave>(a.middle);
  store_first_layer<kWave>(
      x, n, n_row_tiles, a.receiver + row * a.receiver_stride,
      [&](int edge) { return a.sender + senders[edge] * a.sender_stride; }, rows);
  x = multiply_whole<kWave>(rows, n_row_tiles, pieces);
  pieces = begin_product<kWave>(a.last);
  add_bias_gelu<kWave>(x, n_row_tiles, a.middle.bias);
  __syncthreads();
  for_pairs<kWave>(x, n_row_tiles, [&](int edge, int column, float first, float second) {
    store_split(rows, edge, column, first, second);
  });
  __syncthreads();
  x = multiply_whole<kWave>(rows, n_row_tiles, pieces);
  const float* const bias = a.last.bias;
  for_pairs<kWave>(x, n_row_tiles, [&](int edge, int column, float& first, float& second) {
    if (edge >= n) return;
    first += bias[column] + edges[edge * kHidden + column];
    second += bias[column + 1] + edges[edge * kHidden + column + 1];
  });
  normalise_rows<kWave>(x, n_row_tiles, a.norm, norm_room);
  for_pairs<kWave>(x, n_row_tiles, [&](int edge, int column, float first, float second) {
    if (edge >= n) return;
    edges[edge * kHidden + column] = first;
    edges[edge * kHidden + column + 1] = second;
  });
}

}  // namespace
}  // namespace edges

void edge_update(ops::Device& device, const models::proteinmpnn::EdgeUpdate& op) {
  const std::int64_t n_nodes = op.edges.shape[0];
  require_width("edge_update", op.edges.shape[2], edges::kHidden);
  require_neighbours("edge_update", op.edges.shape[1], edges::kMaxNeighbours);
  if (n_nodes == 0) return;
  const edges::UpdateArgs args{op.edges.as<float>(),
                               op.counts.as<std::int32_t>(),
                               static_cast<int>(op.edges.shape[1]),
                               op.receiver.as<float>(),
                               op.receiver.stride[0],
                               op.sender.as<float>(),
                               op.sender.stride[0],
                               op.senders.as<std::int32_t>(),
                               edges::product_of(op.edge),
                               edges::product_of(op.middle),
                               edges::product_of(op.last),
                               edges::norm_of(op.norm)};
  Stream& stream = device.stream();
  with_matrix_wave(stream.wave_width(), [&](auto wave) {
    stream.launch(edges::edge_update_kernel<wave()>, static_cast<std::size_t>(n_nodes),
                  edges::kThreads<wave()>, args);
  });
}

}  // namespace biogpu::gpu::proteinmpnn
