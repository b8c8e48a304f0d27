// Edges of the graph: radial functions of distances, relative position, orientation; embedded,
// normalised, embedded again.
//
// Shapes   see lib/models/proteinmpnn/ops/edge_embed.hpp; d 128, K up to 48.
// Mapping  a block a node, a wave 16 columns. Functions of 8 pairs at a time are made in shared
//          memory as the left operand: a pair's 16 functions are one step of the product.
// Traffic  77 bytes a node and neighbour in, 24 KiB out; weights 264 KiB a node from L2;
//          28 KiB of shared memory.
// Result   within 1e-5 of the original in double precision.
// Limits   kMaxNeighbours, EdgeEmbed::kMaxPairs.
// Source   Dauparas et al. 2022, doi 10.1126/science.add2187.
// Oracle   edge_embed_ref, lib/models/proteinmpnn/ops/edge_embed_ref.cpp.
#include "lib/models/proteinmpnn/ops/edge_embed.hpp"

#include "gpu/models/proteinmpnn/edge_limits.hpp"
#include "gpu/models/proteinmpnn/edge_product.hpp"
#include "gpu/models/proteinmpnn/orientation.hpp"
#include "gpu/ops/device.hpp"
#include "gpu/prim/exact_math.hpp"
#include "gpu/prim/fast_math.hpp"
#include "gpu/rt/kernel.hpp"

namespace biogpu::gpu::proteinmpnn {
namespace edges {
namespace {

constexpr int kStepsAtOnce = kHidden / 16;
constexpr int kMaxOffset = models::proteinmpnn::EdgeEmbed::kMaxOffset;

struct EmbedArgs {
  const float* points;
  int n_points;
  const float* frames;  // or none
  const std::int32_t* numbers;
  const std::int32_t* chains;
  const std::int32_t* rows;
  const float* distances;
  const std::int32_t* counts;
  int n_slots;  // K
  std::uint8_t pairs[models::proteinmpnn::EdgeEmbed::kMaxPairs][2];
  int n_pairs;
  Product features;
  const float* positions;
  Norm norm;
  float* normalised;  // or none
  Product linear;
  float* out;
};

struct EdgeRoom {
  std::int32_t neighbour[kMaxNeighbours];
  float distance[kMaxNeighbours];
  std::int32_t position[kMaxNeighbours];  // row of the table of relative positions
};

__device__ __forceinline__ int position_class(const EmbedArgs& a, std::int64_t i, std::int64_t j) {
  if (a.chains[i] != a.chains[j]) return 2 * kMaxOffset + 1;
  const int offset = a.numbers[i] - a.numbers[j] + kMaxOffset;
  return offset < 0 ? 0 : offset > 2 * kMaxOffset ? 2 * kMaxOffset : offset;
}

// Functions 8 half to 8 half + 7 of a distance.
__device__ __forceinline__ void radial_basis(float distance, int half, float* out) {
  constexpr float kLog2E = 1.44269504f;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const float center = 2.0f + static_cast<float>(8 * half + i) * (20.0f / 15.0f);
    const float z = (distance - center) * 0.8f;
    out[i] = fast_exp2(-kLog2E * (z * z));
  }
}

// 8 inputs of an edge: half a step.
__device__ void edge_inputs(const EmbedArgs& a, const EdgeRoom& edges, std::int64_t row, int edge,
                            int step, int half, float* out) {
  const std::int64_t j = edges.neighbour[edge];
  if (step < a.n_pairs) {
    float distance = edges.distance[edge];
    if (step > 0) {
      const float* const from = a.points + (row * a.n_points + a.pairs[step][0]) * 3;
      const float* const to = a.points + (j * a.n_points + a.pairs[step][1]) * 3;
      distance =
          exact_root(exact_squares(from[0] - to[0], from[1] - to[1], from[2] - to[2], 1e-6f));
    }
    return radial_basis(distance, half, out);
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) out[i] = 0;
  if (step == a.n_pairs && half == 0 && a.frames != nullptr) {
    const float* const ca = a.points + (row * a.n_points + 1) * 3;
    const float* const other = a.points + (j * a.n_points + 1) * 3;
    orientation(ca, other, a.frames + row * 9, a.frames + j * 9, out);
  }
}

template <int kWave>
__device__ void fill_inputs(const EmbedArgs& a, const EdgeRoom& edges, std::int64_t row, int n,
                            int n_row_tiles, int first_step, SplitRows& rows) {
  const int n_items = 16 * n_row_tiles * kStepsAtOnce * 2;
  for (int item = static_cast<int>(threadIdx.x); item < n_items;
       item += static_cast<int>(kThreads<kWave>)) {
    const int edge = item / (2 * kStepsAtOnce), step = item / 2 % kStepsAtOnce, half = item % 2;
    float x[8] = {};
    if (edge < n) edge_inputs(a, edges, row, edge, first_step + step, half, x);
#pragma unroll
    for (int i = 0; i < 8; i += 2)
      store_split(rows, edge, 16 * step + 8 * half + i, x[i], x[i + 1]);
  }
}

template <int kWave>
__device__ void store_edges(Tiles<kWave>& x, int n_row_tiles, int n, float* to) {
  for_pairs<kWave>(x, n_row_tiles, [&](int edge, int column, float first, float second) {
    if (edge >= n) return;
    to[edge * kHidden + column] = first;
    to[edge * kHidden + column + 1] = second;
  });
}

template <int kWave>
__global__ BIOGPU_LAUNCH_BOUNDS(kThreads<kWave>, 2) void edge_embed_kernel(EmbedArgs a) {
  __shared__ SplitRows rows;
  __shared__ EdgeRoom edges;
  __shared__ NormRoom norm_room;
  const std::int64_t row = blockIdx.x;
  const int n = a.counts[row];
  const int n_row_tiles = (n + 15) / 16;
  Pieces<kWave> pieces = begin_product<kWave>(a.features);
  for (int e = static_cast<int>(threadIdx.x); e < a.n_slots;
       e += static_cast<int>(kThreads<kWave>)) {
    edges.neighbour[e] = a.rows[row * a.n_slots + e];
    edges.distance[e] = a.distances[row * a.n_slots + e];
    edges.position[e] = position_class(a, row, edges.neighbour[e]);
  }
  __syncthreads();
  SplitSums<kWave> sums = {};
  for (int step = 0; step < a.features.n_steps; step += kStepsAtOnce) {
    fill_inputs<kWave>(a, edges, row, n, n_row_tiles, step, rows);
    __syncthreads();
    const int left = a.features.n_steps - step;
    multiply_rows<kWave>(rows, n_row_tiles, left < kStepsAtOnce ? left : kStepsAtOnce, pieces,
                         sums);
    __syncthreads();
  }
  Tiles<kWave> x = joined<kWave>(sums);
  for_pairs<kWave>(x, n_row_tiles, [&](int edge, int column, float& first, float& second) {
    if (edge >= n) return;
    const float* const position = a.positions + edges.position[edge] * kHidden + column;
    first += position[0];
    second += position[1];
  });
  normalise_rows<kWave>(x, n_row_tiles, a.norm, norm_room);
  const std::int64_t first_edge = row * a.n_slots * kHidden;
  if (a.normalised != nullptr) store_edges<kWave>(x, n_row_tiles, n, a.normalised + first_edge);
  pieces = begin_product<kWave>(a.linear);
  for_pairs<kWave>(x, n_row_tiles, [&](int edge, int column, float first, float second) {
    store_split(rows, edge, column, first, second);
  });
  __syncthreads();
  x = multiply_whole<kWave>(rows, n_row_tiles, pieces);
  for_pairs<kWave>(x, n_row_tiles, [&](int, int column, float& first, float& second) {
    first += a.linear.bias[column];
    second += a.linear.bias[column + 1];
  });
  store_edges<kWave>(x, n_row_tiles, n, a.out + first_edge);
}

}  // namespace
}  // namespace edges

void edge_embed(ops::Device& device, const models::proteinmpnn::EdgeEmbed& op) {
  const std::int64_t n_nodes = op.points.shape[0];
  require_width("edge_embed", op.out.shape[2], edges::kHidden);
  require_neighbours("edge_embed", op.rows.shape[1], edges::kMaxNeighbours);
  if (n_nodes == 0) return;
  edges::EmbedArgs args{};
  args.points = op.points.as<float>();
  args.n_points = static_cast<int>(op.points.shape[1]);
  args.frames = op.frames.as<float>();
  args.numbers = op.numbers.as<std::int32_t>();
  args.chains = op.chains.as<std::int32_t>();
  args.rows = op.rows.as<std::int32_t>();
  args.distances = op.distances.as<float>();
  args.counts = op.counts.as<std::int32_t>();
  args.n_slots = static_cast<int>(op.rows.shape[1]);
  args.n_pairs = op.n_pairs;
  for (int p = 0; p < op.n_pairs; ++p)
    for (int end = 0; end < 2; ++end) args.pairs[p][end] = op.pairs[p][end];
  args.features = edges::product_of(op.features);
  args.positions = op.positions.as<float>();
  args.norm = edges::norm_of(op.norm);
  args.normalised = op.normalised.as<float>();
  args.linear = edges::product_of(op.linear);
  args.out = op.out.as<float>();
  Stream& stream = device.stream();
  with_matrix_wave(stream.wave_width(), [&](auto wave) {
    stream.launch(edges::edge_embed_kernel<wave()>, static_cast<std::size_t>(n_nodes),
                  edges::kThreads<wave()>, args);
  });
}

}  // namespace biogpu::gpu::proteinmpnn
