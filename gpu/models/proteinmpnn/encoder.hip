// Layers of the encoder: every residue gathers messages from its neighbours, every edge one from
// its ends.
//
// Shapes   see Structures and Encoded.
// Mapping  a block a residue, a wave 16 columns. An edge's inputs, the hidden layers of its message
//          and the sums stay in shared memory and registers; what belongs to a residue alone was
//          multiplied once and is added to the first layer.
// Traffic  a residue and layer: 24 KiB of edges in twice and out once, 48 KiB of neighbours' parts,
//          320 KiB of packed weights and 832 KiB of weights of single residues from L2.
// Result   residues and edges within 1e-4 of the original in double precision; independent of what
//          else is in the batch.
// Limits   kMaxNeighbours.
// Source   Dauparas et al. 2022, doi 10.1126/science.add2187.
// Oracle   encode, lib/models/proteinmpnn/encoder.cpp.
#include "gpu/models/proteinmpnn/encoder.hpp"

#include "gpu/models/proteinmpnn/message.hpp"
#include "gpu/rt/kernel.hpp"

namespace biogpu::gpu::proteinmpnn {
namespace {

struct LayerArgs {
  Structures structures;
  EncoderLayer weights;
  Encoded out;
  const float* ends = nullptr;  // of this layer's messages to residues
  float* next_ends = nullptr;   // of the next layer's, or none
};

// The rows of this residue's neighbours.
struct Around {
  std::int32_t neighbour[kMaxNeighbours];
  std::uint8_t both[kMaxNeighbours];  // present
};

template <int kWave>
__device__ __forceinline__ int load_around(const Structures& s, std::int64_t row, Around& around) {
  const int in_structure = s.places[row].n;
  for (int e = static_cast<int>(threadIdx.x); e < kMaxNeighbours;
       e += static_cast<int>(kThreads<kWave>)) {
    const std::int32_t j = s.neighbours[row * kMaxNeighbours + e];
    around.neighbour[e] = j;
    around.both[e] = s.present[row] != 0 && s.present[j] != 0 ? 1 : 0;
  }
  return in_structure < s.n_neighbours ? in_structure : s.n_neighbours;
}

// What this residue adds to the messages that follow, from its new state in room.h.
template <int kWave>
__device__ void hand_on(const LayerArgs& a, std::int64_t row, ResidueRoom& room) {
  const std::int64_t at = row * 2 * kHidden;
  multiply_ends<kWave>(a.weights.edge_ends, room, room,
                       [&](int o, float value) { a.out.edge_ends[at + o] = value; });
  if (a.next_ends == nullptr) return;
  __syncthreads();
  multiply_ends<kWave>(a.weights.next_ends, room, room,
                       [&](int o, float value) { a.next_ends[at + o] = value; });
}

template <int kWave>
__global__ BIOGPU_LAUNCH_BOUNDS(kThreads<kWave>, 2) void encoder_residues_kernel(LayerArgs a) {
  __shared__ SplitRows rows;
  __shared__ ResidueRoom room;
  __shared__ Around around;
  const std::int64_t row = blockIdx.x;
  const int n = load_around<kWave>(a.structures, row, around);
  const int n_row_tiles = (n + 15) / 16;
  Pieces<kWave> pieces = begin_product<kWave>(a.weights.edge);
  load_edges<kWave>(a.out.edges + row * kMaxNeighbours * kHidden, n, n_row_tiles, rows);
  if (threadIdx.x < kHidden) room.h[threadIdx.x] = a.out.h[row * kHidden + threadIdx.x];
  __syncthreads();
  Tiles<kWave> x = multiply_whole<kWave>(rows, n_row_tiles, pieces);
  pieces = begin_product<kWave>(a.weights.middle);
  store_first_layer<kWave>(
      x, n, n_row_tiles, a.ends + row * 2 * kHidden,
      [&](int edge) {
        return a.ends + std::int64_t{around.neighbour[edge]} * 2 * kHidden + kHidden;
      },
      rows);
  x = multiply_whole<kWave>(rows, n_row_tiles, pieces);
  add_bias_gelu<kWave>(x, n_row_tiles, a.weights.middle.bias);
  for_pairs<kWave>(x, n_row_tiles, [&](int edge, int, float& first, float& second) {
    if (edge < n && around.both[edge] != 0) return;
    first = second = 0;
  });
  sum_rows<kWave>(x, room.sum);
  int n_messages = 0;
  for (int e = 0; e < n; ++e) n_messages += around.both[e];
  update_residue<kWave>(a.weights.update, static_cast<float>(n_messages), room);
  if (a.structures.present[row] == 0 && threadIdx.x < kHidden) room.h[threadIdx.x] = 0;
  __syncthreads();
  if (threadIdx.x < kHidden) a.out.h[row * kHidden + threadIdx.x] = room.h[threadIdx.x];
  hand_on<kWave>(a, row, room);
}

template <int kWave>
__global__ BIOGPU_LAUNCH_BOUNDS(kThreads<kWave>, 2) void encoder_edges_kernel(LayerArgs a) {
  __shared__ SplitRows rows;
  __shared__ NormRoom norm_room;
  __shared__ Around around;
  const std::int64_t row = blockIdx.x;
  const int n = load_around<kWave>(a.structures, row, around);
  const int n_row_tiles = (n + 15) / 16;
  float* const edges = a.out.edges + row * kMaxNeighbours * kHidden;
  const float* const ends = a.out.edge_ends;
  Pieces<kWave> pieces = begin_product<kWave>(a.weights.edge_edge);
  load_edges<kWave>(edges, n, n_row_tiles, rows);
  __syncthreads();
  Tiles<kWave> x = multiply_whole<kWave>(rows, n_row_tiles, pieces);
  pieces = begin_product<kWave>(a.weights.edge_middle);
  store_first_layer<kWave>(
      x, n, n_row_tiles, ends + row * 2 * kHidden,
      [&](int edge) { return ends + std::int64_t{around.neighbour[edge]} * 2 * kHidden + kHidden; },
      rows);
  x = multiply_whole<kWave>(rows, n_row_tiles, pieces);
  pieces = begin_product<kWave>(a.weights.edge_last);
  add_bias_gelu<kWave>(x, n_row_tiles, a.weights.edge_middle.bias);
  __syncthreads();
  for_pairs<kWave>(x, n_row_tiles, [&](int edge, int column, float first, float second) {
    store_split(rows, edge, column, first, second);
  });
  __syncthreads();
  x = multiply_whole<kWave>(rows, n_row_tiles, pieces);
  const float* const bias = a.weights.edge_last.bias;
  for_pairs<kWave>(x, n_row_tiles, [&](int edge, int column, float& first, float& second) {
    if (edge >= n) return;
    first += bias[column] + edges[edge * kHidden + column];
    second += bias[column + 1] + edges[edge * kHidden + column + 1];
  });
  normalise_rows<kWave>(x, n_row_tiles, a.weights.edge_norm, norm_room);
  for_pairs<kWave>(x, n_row_tiles, [&](int edge, int column, float first, float second) {
    if (edge >= n) return;
    edges[edge * kHidden + column] = first;
    edges[edge * kHidden + column + 1] = second;
  });
}

struct PartsArgs {
  Structures structures;
  DecoderWeights weights;
  Encoded out;
};

template <int kWave>
__global__ BIOGPU_LAUNCH_BOUNDS(kThreads<kWave>, 2) void decoder_parts_kernel(PartsArgs a) {
  __shared__ SplitRows rows;
  __shared__ ResidueRoom room;
  const std::int64_t row = blockIdx.x, first_edge = row * kMaxNeighbours * kHidden;
  const int in_structure = a.structures.places[row].n;
  const int n = in_structure < a.structures.n_neighbours ? in_structure : a.structures.n_neighbours;
  const int n_row_tiles = (n + 15) / 16;
  load_edges<kWave>(a.out.edges + first_edge, n, n_row_tiles, rows);
  if (threadIdx.x < kHidden) room.h[threadIdx.x] = a.out.h[row * kHidden + threadIdx.x];
  __syncthreads();
  for (int l = 0; l < kLayers; ++l) {
    Pieces<kWave> pieces = begin_product<kWave>(a.weights.layer[l].edge);
    Tiles<kWave> x = multiply_whole<kWave>(rows, n_row_tiles, pieces);
    float* const to = a.out.decoder_edges[l] + first_edge;
    for_pairs<kWave>(x, n_row_tiles, [&](int edge, int column, float first, float second) {
      if (edge >= n) return;
      to[edge * kHidden + column] = first;
      to[edge * kHidden + column + 1] = second;
    });
    multiply_ends<kWave>(a.weights.layer[l].ends, room, room, [&](int o, float value) {
      if (o >= kHidden) a.out.neighbour[l][row * kHidden + o - kHidden] = value;
      if (o < kHidden && l == 0) a.out.receiver[row * kHidden + o] = value;
    });
    __syncthreads();
  }
}

}  // namespace

void launch_encoder_layer(const Structures& structures, const EncoderLayer& weights, int layer,
                          const Encoded& out, Stream& stream) {
  if (structures.n_rows == 0) return;
  LayerArgs args{structures, weights, out, out.residue_ends[layer % 2], nullptr};
  if (layer + 1 < kLayers) args.next_ends = out.residue_ends[(layer + 1) % 2];
  const auto n_blocks = static_cast<std::size_t>(structures.n_rows);
  with_matrix_wave(stream.wave_width(), [&](auto wave) {
    stream.launch(encoder_residues_kernel<wave()>, n_blocks, kThreads<wave()>, args);
    stream.launch(encoder_edges_kernel<wave()>, n_blocks, kThreads<wave()>, args);
  });
}

void launch_decoder_parts(const Structures& structures, const DecoderWeights& weights,
                          const Encoded& out, Stream& stream) {
  if (structures.n_rows == 0) return;
  with_matrix_wave(stream.wave_width(), [&](auto wave) {
    stream.launch(decoder_parts_kernel<wave()>, static_cast<std::size_t>(structures.n_rows),
                  kThreads<wave()>, PartsArgs{structures, weights, out});
  });
}

}  // namespace biogpu::gpu::proteinmpnn
