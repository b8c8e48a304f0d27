#pragma once

// Functions of a distance out of a table (RadialTable, lib/models/tensornet/ops/edge_ops.hpp),
// kVector neighbouring ones per thread.

#include <cstdint>

#include "gpu/ops/message_passing/message_tile.hpp"
#include "lib/tensor/tensor.hpp"

#define BIOGPU_TABLE_FUNCTION __device__ __forceinline__
#include "lib/models/tensornet/ops/table_place.hpp"

namespace biogpu::gpu::tensornet {

using ops::Channels;

// [n_intervals, 4, n_functions], from distance `lower` to `upper`.
struct FunctionTable {
  const float* numbers;
  float lower, upper;
  std::int64_t n_intervals;
  int n_functions;

  FunctionTable(const tensor::Tensor& table, float from, float to)
      : numbers(table.as<float>()),
        lower(from),
        upper(to),
        n_intervals(table.shape[0]),
        n_functions(static_cast<int>(table.shape[2])) {}

  __device__ __forceinline__ models::tensornet::TablePlace place_of(float distance) const {
    return {distance, lower, upper, n_intervals};
  }
};

// The polynomials of functions [first, first + kVector) in one interval.
template <int kVector>
struct Cubics {
  Channels<kVector> a[4];

  __device__ __forceinline__ Cubics(const FunctionTable& table, std::int64_t interval, int first) {
    const float* const from = table.numbers + interval * 4 * table.n_functions + first;
#pragma unroll
    for (int n = 0; n < 4; ++n) a[n] = ops::load_channels<kVector>(from + n * table.n_functions);
  }
  __device__ __forceinline__ float value(int v, float t) const {
    return a[0].value[v] + t * (a[1].value[v] + t * (a[2].value[v] + t * a[3].value[v]));
  }
  // By t.
  __device__ __forceinline__ float slope(int v, float t) const {
    return a[1].value[v] + t * (2.0f * a[2].value[v] + t * 3.0f * a[3].value[v]);
  }
};

}  // namespace biogpu::gpu::tensornet
