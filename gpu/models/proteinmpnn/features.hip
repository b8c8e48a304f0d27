// Edges of the graph: radial functions of distances, relative position, orientation; embedded,
// normalised, embedded again.
//
// Shapes   see FeatureArgs; edges [rows][48][128] f32.
// Mapping  a block a residue, a wave 16 columns. Functions of 8 pairs at a time are made in shared
//          memory as the left operand: a pair's 16 functions are one step of the product.
// Traffic  17 bytes a residue in, 24 KiB out; weights 264 KiB a residue from L2. 28 KiB shared.
// Result   within 1e-5 of the original in double precision.
// Limits   kMaxNeighbours.
// Source   Dauparas et al. 2022, doi 10.1126/science.add2187.
// Oracle   Encoder::features, lib/models/proteinmpnn/encoder.cpp.
#include "gpu/models/proteinmpnn/graph.hpp"
#include "gpu/models/proteinmpnn/orientation.hpp"
#include "gpu/models/proteinmpnn/split_product.hpp"
#include "gpu/prim/exact_math.hpp"
#include "gpu/prim/fast_math.hpp"
#include "gpu/rt/kernel.hpp"

namespace biogpu::gpu::proteinmpnn {
namespace {

constexpr int kStepsAtOnce = kHidden / 16;
constexpr int kMaxOffset = 32;

struct EdgeRoom {
  std::int32_t neighbour[kMaxNeighbours];
  float distance[kMaxNeighbours];
  std::int32_t position[kMaxNeighbours];  // row of the table of relative positions
};

__device__ __forceinline__ int position_class(const Structures& s, std::int64_t i, std::int64_t j) {
  if (s.chain[i] != s.chain[j]) return 2 * kMaxOffset + 1;
  const int offset = s.index[i] - s.index[j] + kMaxOffset;
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
__device__ void edge_inputs(const FeatureArgs& a, const EdgeRoom& edges, std::int64_t row, int edge,
                            int step, int half, float* out) {
  const Structures& s = a.structures;
  const std::int64_t j = edges.neighbour[edge];
  if (step < a.n_pairs) {
    float distance = edges.distance[edge];
    if (step > 0) {
      const float* const from = s.points + (row * s.n_points + a.pairs[step][0]) * 3;
      const float* const to = s.points + (j * s.n_points + a.pairs[step][1]) * 3;
      distance =
          exact_root(exact_squares(from[0] - to[0], from[1] - to[1], from[2] - to[2], 1e-6f));
    }
    return radial_basis(distance, half, out);
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) out[i] = 0;
  if (step == a.n_pairs && half == 0 && a.has_orientation) {
    const float* const ca = s.points + (row * s.n_points + 1) * 3;
    const float* const other = s.points + (j * s.n_points + 1) * 3;
    orientation(ca, other, s.frames + row * 9, s.frames + j * 9, out);
  }
}

template <int kWave>
__device__ void fill_inputs(const FeatureArgs& a, const EdgeRoom& edges, std::int64_t row, int n,
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
__device__ void start_residue(const FeatureArgs& a, std::int64_t row) {
  for (int c = static_cast<int>(threadIdx.x); c < 2 * kHidden;
       c += static_cast<int>(kThreads<kWave>)) {
    if (c < kHidden) a.out.h[row * kHidden + c] = 0;
    a.out.residue_ends[0][row * 2 * kHidden + c] = a.first_bias[c];
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
__global__ BIOGPU_LAUNCH_BOUNDS(kThreads<kWave>, 2) void features_kernel(FeatureArgs a) {
  __shared__ SplitRows rows;
  __shared__ EdgeRoom edges;
  __shared__ NormRoom norm_room;
  const std::int64_t row = blockIdx.x;
  const Structures& s = a.structures;
  const int in_structure = s.places[row].n;
  const int n = in_structure < s.n_neighbours ? in_structure : s.n_neighbours;
  const int n_row_tiles = (n + 15) / 16;
  Pieces<kWave> pieces = begin_product<kWave>(a.features);
  for (int e = static_cast<int>(threadIdx.x); e < kMaxNeighbours;
       e += static_cast<int>(kThreads<kWave>)) {
    edges.neighbour[e] = s.neighbours[row * kMaxNeighbours + e];
    edges.distance[e] = s.distances[row * kMaxNeighbours + e];
    edges.position[e] = position_class(s, row, edges.neighbour[e]);
  }
  start_residue<kWave>(a, row);
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
    const float* const position = a.positions + edges.position[edge] * kHidden + column;
    first += position[0];
    second += position[1];
  });
  normalise_rows<kWave>(x, n_row_tiles, a.norm, norm_room);
  const std::int64_t first_edge = row * kMaxNeighbours * kHidden;
  if (a.taps != nullptr) store_edges<kWave>(x, n_row_tiles, n, a.taps + first_edge);
  pieces = begin_product<kWave>(a.edges);
  for_pairs<kWave>(x, n_row_tiles, [&](int edge, int column, float first, float second) {
    store_split(rows, edge, column, first, second);
  });
  __syncthreads();
  x = multiply_whole<kWave>(rows, n_row_tiles, pieces);
  for_pairs<kWave>(x, n_row_tiles, [&](int, int column, float& first, float& second) {
    first += a.edges.bias[column];
    second += a.edges.bias[column + 1];
  });
  store_edges<kWave>(x, n_row_tiles, n, a.out.edges + first_edge);
}

}  // namespace

void launch_features(const FeatureArgs& args, Stream& stream) {
  if (args.structures.n_rows == 0) return;
  with_matrix_wave(stream.wave_width(), [&](auto wave) {
    stream.launch(features_kernel<wave()>, static_cast<std::size_t>(args.structures.n_rows),
                  kThreads<wave()>, args);
  });
}

}  // namespace biogpu::gpu::proteinmpnn
