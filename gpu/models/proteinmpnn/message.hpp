#pragma once

// Steps of a message network on the edges of one residue, by one block.

#include "gpu/models/proteinmpnn/residue_update.hpp"
#include "gpu/models/proteinmpnn/structures.hpp"

namespace biogpu::gpu::proteinmpnn {

// Edges of a residue as the left operand; rows behind n up to whole tiles become 0.
template <int kWave>
__device__ __forceinline__ void load_edges(const float* edges, int n, int n_row_tiles,
                                           SplitRows& rows) {
  constexpr int kColumns = HiddenRow<kWave>::kColumns;
  const int column = first_column<kWave>(), wave = static_cast<int>(threadIdx.x) / kWave;
#pragma unroll
  for (int r = 0; r < kMaxNeighbours / kWaves; ++r) {
    const int edge = r * kWaves + wave;
    if (edge >= 16 * n_row_tiles) continue;
#pragma unroll
    for (int c = 0; c < kColumns; c += 2) {
      const float* const from = edges + edge * kHidden + column + c;
      const bool used = edge < n;
      store_split(rows, edge, column + c, used ? from[0] : 0.0f, used ? from[1] : 0.0f);
    }
  }
}

// gelu(x + what receiver and neighbours add) as the left operand. receiver: [kHidden];
// of_neighbour(edge): where its kHidden numbers lie. Between two barriers of its own.
template <int kWave, class OfNeighbour>
__device__ __forceinline__ void store_first_layer(Tiles<kWave>& x, int n, int n_row_tiles,
                                                  const float* receiver,
                                                  const OfNeighbour& of_neighbour,
                                                  SplitRows& rows) {
  __syncthreads();
  for_pairs<kWave>(x, n_row_tiles, [&](int edge, int column, float first, float second) {
    if (edge < n) {
      const float* const neighbour = of_neighbour(edge) + column;
      first = ops::gelu(first + receiver[column] + neighbour[0]);
      second = ops::gelu(second + receiver[column + 1] + neighbour[1]);
    }
    store_split(rows, edge, column, first, second);
  });
  __syncthreads();
}

template <int kWave>
__device__ __forceinline__ void add_bias_gelu(Tiles<kWave>& x, int n_row_tiles, const float* bias) {
  for_pairs<kWave>(x, n_row_tiles, [&](int, int column, float& first, float& second) {
    first = ops::gelu(first + bias[column]);
    second = ops::gelu(second + bias[column + 1]);
  });
}

}  // namespace biogpu::gpu::proteinmpnn
