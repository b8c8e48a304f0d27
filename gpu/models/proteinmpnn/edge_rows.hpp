#pragma once

// Steps of a message network on the edges of one node, by one block.

#include "gpu/models/proteinmpnn/node_update.hpp"

namespace biogpu::gpu::proteinmpnn::edges {

// Edges of a node, `stride` numbers apart, as the left operand; rows behind n up to whole tiles
// become 0.
template <int kWave>
__device__ __forceinline__ void load_edges(const float* edges, std::int64_t stride, int n,
                                           int n_row_tiles, SplitRows& rows) {
  constexpr int kColumns = HiddenRow<kWave>::kColumns;
  const int column = first_column<kWave>(), wave = static_cast<int>(threadIdx.x) / kWave;
#pragma unroll
  for (int r = 0; r < kMaxNeighbours / kWaves; ++r) {
    const int edge = r * kWaves + wave;
    if (edge >= 16 * n_row_tiles) continue;
#pragma unroll
    for (int c = 0; c < kColumns; c += 2) {
      const float* const from = edges + edge * stride + column + c;
      const bool used = edge < n;
      store_split(rows, edge, column + c, used ? from[0] : 0.0f, used ? from[1] : 0.0f);
    }
  }
}

// gelu(x + what receiver and senders add) as the left operand. receiver: [kHidden];
// of_sender(edge): where its kHidden numbers lie. It has a barrier before and behind it.
template <int kWave, class OfSender>
__device__ __forceinline__ void store_first_layer(Tiles<kWave>& x, int n, int n_row_tiles,
                                                  const float* receiver, const OfSender& of_sender,
                                                  SplitRows& rows) {
  __syncthreads();
  for_pairs<kWave>(x, n_row_tiles, [&](int edge, int column, float first, float second) {
    if (edge < n) {
      const float* const sender = of_sender(edge) + column;
      first = ops::gelu(first + receiver[column] + sender[0]);
      second = ops::gelu(second + receiver[column + 1] + sender[1]);
    }
    store_split(rows, edge, column, first, second);
  });
  __syncthreads();
}

// The same for edges that were multiplied before. A wave takes six edges, whose loads overlap.
template <int kWave, class OfSender>
__device__ __forceinline__ void load_messages(const float* edges, std::int64_t stride, int n,
                                              const float* receiver, const OfSender& of_sender,
                                              SplitRows& rows) {
  constexpr int kEdges = kMaxNeighbours / kWaves, kColumns = HiddenRow<kWave>::kColumns;
  const int column = first_column<kWave>(), wave = static_cast<int>(threadIdx.x) / kWave;
  struct alignas(4 * kColumns) Numbers {
    float value[kColumns];
  };
  Numbers x[kEdges], y[kEdges];
#pragma unroll
  for (int r = 0; r < kEdges; ++r) {
    const int edge = r * kWaves + wave;
    if (edge >= n) continue;
    x[r] = *reinterpret_cast<const Numbers*>(edges + edge * stride + column);
    y[r] = *reinterpret_cast<const Numbers*>(of_sender(edge) + column);
  }
  const int n_rows = (n + 15) / 16 * 16;
#pragma unroll
  for (int r = 0; r < kEdges; ++r) {
    const int edge = r * kWaves + wave;
    if (edge >= n_rows) continue;
#pragma unroll
    for (int c = 0; c < kColumns; ++c) {
      const float sum = x[r].value[c] + receiver[column + c] + y[r].value[c];
      x[r].value[c] = edge < n ? ops::gelu(sum) : 0.0f;
    }
#pragma unroll
    for (int c = 0; c < kColumns; c += 2)
      store_split(rows, edge, column + c, x[r].value[c], x[r].value[c + 1]);
  }
}

template <int kWave>
__device__ __forceinline__ void add_bias_gelu(Tiles<kWave>& x, int n_row_tiles, const float* bias) {
  for_pairs<kWave>(x, n_row_tiles, [&](int, int column, float& first, float& second) {
    first = ops::gelu(first + bias[column]);
    second = ops::gelu(second + bias[column + 1]);
  });
}

// room.h from the sum of gelu(middle(rows)) over the edges that uses(edge) says; n_messages: how
// many they are. Ends with a barrier.
template <int kWave, class Uses>
__device__ __forceinline__ void gather_messages(const SplitRows& rows, int n_row_tiles,
                                                Pieces<kWave>& pieces, const float* middle_bias,
                                                const Uses& uses, int n_messages,
                                                const Update& update, NodeRoom& room) {
  Tiles<kWave> x = multiply_whole<kWave>(rows, n_row_tiles, pieces);
  add_bias_gelu<kWave>(x, n_row_tiles, middle_bias);
  for_pairs<kWave>(x, n_row_tiles, [&](int edge, int, float& first, float& second) {
    if (!uses(edge)) first = second = 0;
  });
  sum_rows<kWave>(x, room.sum);
  update_node<kWave>(update, static_cast<float>(n_messages), room);
}

}  // namespace biogpu::gpu::proteinmpnn::edges
