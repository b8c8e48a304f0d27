#pragma once

// Layers of a single node by one block, in fp32: matrix times vector, LayerNorm, feed-forward.
// They wait for weights from L2, so every thread has many loads on their way.

#include "gpu/models/proteinmpnn/edge_product.hpp"
#include "gpu/ops/gelu.hpp"
#include "lib/models/proteinmpnn/ops/edge_message.hpp"

namespace biogpu::gpu::proteinmpnn::edges {

inline constexpr int kInner = 4 * kHidden;

// For one row: [n_in / 4][n_out][4], so that neighbouring threads read neighbouring outputs.
struct Columns {
  const float* weight = nullptr;
  const float* bias = nullptr;  // [n_out]
  int n_out = 0;
};
inline Columns columns_of(const tensor::Linear* linear) {
  if (linear == nullptr) return {};
  const auto& packed = *static_cast<const BlockLinear*>(linear->packed);
  return {packed.columns, packed.bias, static_cast<int>(linear->n_out)};
}

// From summed messages to a node's new state. last.bias counts once for each summed message.
struct Update {
  Columns last, in, out;
  Norm before, after;
};
inline Update update_of(const models::proteinmpnn::NodeUpdate& update) {
  return {columns_of(update.last), columns_of(update.in), columns_of(update.out),
          norm_of(update.before), norm_of(update.after)};
}

struct alignas(16) Float4 {
  float value[4];
};

// Calls store(part, output, value): the sum of its inputs' products for each part that the inputs
// are cut into, kParts<kWave, kOut> of them. x: shared memory.
template <int kWave, int kOut>
inline constexpr int kParts = kThreads<kWave> > kOut ? static_cast<int>(kThreads<kWave>) / kOut : 1;

template <int kWave, int kOut, int kIn, class Store>
__device__ __forceinline__ void gemv(const float* weight, const float* x, const Store& store,
                                     int n_out = kOut) {
  constexpr int kGroups = kIn / kParts<kWave, kOut> / 4;  // of 4 inputs, for one output
  const int thread = static_cast<int>(threadIdx.x);
  const int part = thread / kOut % kParts<kWave, kOut>;
  for (int o = thread % kOut; o < kOut; o += static_cast<int>(kThreads<kWave>)) {
    const auto* const weights =
        reinterpret_cast<const Float4*>(weight) + part * kGroups * n_out + o;
    const auto* const inputs = reinterpret_cast<const Float4*>(x) + part * kGroups;
    float sum = 0;
#pragma unroll 16
    for (int g = 0; g < kGroups; ++g) {
      const Float4 w = weights[g * n_out], in = inputs[g];
#pragma unroll
      for (int i = 0; i < 4; ++i) sum += w.value[i] * in.value[i];
    }
    store(part, o, sum);
  }
}

// Shared memory of one node.
struct alignas(16) NodeRoom {
  float h[kHidden];
  float sum[kHidden];  // of messages
  float inner[kInner];
  float parts[4 * kHidden];
  float receiver[kHidden];
};

// kHidden numbers in the lanes of every wave.
template <int kWave>
struct HiddenRow {
  static constexpr int kColumns = kHidden / kWave;
  float value[kColumns];
};

template <int kWave>
__device__ __forceinline__ int first_column() {
  return wave_lane<kWave>() * HiddenRow<kWave>::kColumns;
}

// row = LayerNorm(row + parts + scale bias), eps 1e-5.
template <int kWave>
__device__ __forceinline__ void add_normalise(HiddenRow<kWave>& row, const float* parts,
                                              const float* bias, float scale, const Norm& norm) {
  const int column = first_column<kWave>();
  float sum = 0;
#pragma unroll
  for (int i = 0; i < HiddenRow<kWave>::kColumns; ++i) {
    float change = scale * bias[column + i];
#pragma unroll
    for (int p = 0; p < kParts<kWave, kHidden>; ++p) change += parts[p * kHidden + column + i];
    row.value[i] += change;
    sum += row.value[i];
  }
  const float mean = wave_sum<kWave>(sum) * (1.0f / kHidden);
  float squares = 0;
#pragma unroll
  for (int i = 0; i < HiddenRow<kWave>::kColumns; ++i) {
    row.value[i] -= mean;
    squares += row.value[i] * row.value[i];
  }
  const float variance = wave_sum<kWave>(squares) * (1.0f / kHidden);
  const float factor = 1.0f / sqrtf(variance + 1e-5f);
#pragma unroll
  for (int i = 0; i < HiddenRow<kWave>::kColumns; ++i)
    row.value[i] = row.value[i] * factor * norm.weight[column + i] + norm.bias[column + i];
}

template <int kWave>
__device__ __forceinline__ void store_hidden(const HiddenRow<kWave>& row, float* h) {
  if (threadIdx.x >= kWave) return;
#pragma unroll
  for (int i = 0; i < HiddenRow<kWave>::kColumns; ++i) h[first_column<kWave>() + i] = row.value[i];
}

// h = LN(h + last(sum)), then h = LN(h + feed-forward(h)). All waves compute the norms, each for
// itself. Begins and ends with a barrier.
template <int kWave>
__device__ __forceinline__ void update_node(const Update& update, float n_messages,
                                            NodeRoom& room) {
  const auto store_part = [&](int part, int o, float value) {
    room.parts[part * kHidden + o] = value;
  };
  __syncthreads();
  HiddenRow<kWave> row;
#pragma unroll
  for (int i = 0; i < HiddenRow<kWave>::kColumns; ++i)
    row.value[i] = room.h[first_column<kWave>() + i];
  gemv<kWave, kHidden, kHidden>(update.last.weight, room.sum, store_part);
  __syncthreads();
  add_normalise<kWave>(row, room.parts, update.last.bias, n_messages, update.before);
  store_hidden<kWave>(row, room.h);
  __syncthreads();
  gemv<kWave, kInner, kHidden>(update.in.weight, room.h, [&](int, int o, float value) {
    room.inner[o] = ops::gelu(value + update.in.bias[o]);
  });
  __syncthreads();
  gemv<kWave, kHidden, kInner>(update.out.weight, room.inner, store_part);
  __syncthreads();
  add_normalise<kWave>(row, room.parts, update.out.bias, 1.0f, update.after);
  store_hidden<kWave>(row, room.h);
  __syncthreads();
}

// to(output, value) for the outputs of `node_proj` on room.h, a multiple of 2 kHidden of them.
template <int kWave, class Store>
__device__ __forceinline__ void project_node(const Columns& node_proj, NodeRoom& room,
                                             const Store& to) {
  constexpr int kNodeProj = 2 * kHidden;
  for (int first = 0; first < node_proj.n_out; first += kNodeProj) {
    const float* const weight = node_proj.weight + 4 * first;
    const float* const bias = node_proj.bias + first;
    if constexpr (kParts<kWave, kNodeProj> == 1) {
      gemv<kWave, kNodeProj, kHidden>(
          weight, room.h, [&](int, int o, float value) { to(first + o, value + bias[o]); },
          node_proj.n_out);
    } else {
      __syncthreads();
      gemv<kWave, kNodeProj, kHidden>(
          weight, room.h,
          [&](int part, int o, float value) { room.inner[part * kNodeProj + o] = value; },
          node_proj.n_out);
      __syncthreads();
      for (int o = static_cast<int>(threadIdx.x); o < kNodeProj;
           o += static_cast<int>(kThreads<kWave>)) {
        float sum = bias[o];
        for (int p = 0; p < kParts<kWave, kNodeProj>; ++p) sum += room.inner[p * kNodeProj + o];
        to(first + o, sum);
      }
    }
  }
}

}  // namespace biogpu::gpu::proteinmpnn::edges
