#pragma once

// What the kernels of matmul share: arguments, and where a block's product and tile lie.

#include <cstdint>

#include "gpu/ops/gemm/gemm_tile.hpp"
#include "gpu/ops/output_access.hpp"
#include "lib/ops/gemm/matmul_axes.hpp"

namespace biogpu::gpu::ops {

struct MatmulArgs {
  const void* a = nullptr;
  const void* b = nullptr;
  void* y = nullptr;
  biogpu::ops::MatmulAxes axes;  // m, n and k below 2^31
  Element type = Element::f32;   // of y
  float scale = 1;
  bool a_in_16_bytes = false;  // whether copies of 16 bytes along the contiguous axis are aligned
  bool b_in_16_bytes = false;
  std::int64_t first_block = 0;
};

// The axis of an operand along which its numbers lie next to each other: the summed one, or that
// of its rows (a's rows, b's columns). Other operands are read as if it were the summed one.
enum class Along { k, rows };

// One operand of one product: number (row, k) at data[row * row_stride + k * k_stride].
template <class T>
struct OperandRows {
  const T* data;
  std::int64_t row_stride, k_stride;
  int n_rows, n_k;
  bool in_16_bytes;
};

// Elements from an operand's first to the first of a product.
__device__ __forceinline__ std::int64_t product_offset(
    const biogpu::ops::MatmulAxes& axes, const biogpu::ops::MatmulAxes::Strides& strides,
    std::int64_t product) {
  std::int64_t at = 0;
#pragma unroll
  for (int i = biogpu::ops::MatmulAxes::kBatchAxes - 1; i >= 0; --i) {
    if (axes.batch[i] == 1) continue;
    at += product % axes.batch[i] * strides.batch[i];
    product /= axes.batch[i];
  }
  return at;
}

struct MatmulBlock {
  std::int64_t product;
  gemm_tile::Place tile;
};
template <class Tile>
__device__ __forceinline__ MatmulBlock matmul_block(const MatmulArgs& args) {
  const int m = static_cast<int>(args.axes.m), n = static_cast<int>(args.axes.n);
  const std::int64_t block = args.first_block + blockIdx.x;
  const std::int64_t n_tiles =
      std::int64_t{ceil_div(m, gemm_tile::kRows<Tile>)} * ceil_div(n, gemm_tile::kColumns<Tile>);
  return {block / n_tiles, gemm_tile::place_of<Tile>(m, n, static_cast<int>(block % n_tiles))};
}

template <class T>
__device__ __forceinline__ OperandRows<T> rows_of_a(const MatmulArgs& args, std::int64_t product) {
  const auto& axes = args.axes;
  return {static_cast<const T*>(args.a) + product_offset(axes, axes.a, product),
          axes.a.row,
          axes.a.column,
          static_cast<int>(axes.m),
          static_cast<int>(axes.k),
          args.a_in_16_bytes};
}
template <class T>
__device__ __forceinline__ OperandRows<T> rows_of_b(const MatmulArgs& args, std::int64_t product) {
  const auto& axes = args.axes;
  return {static_cast<const T*>(args.b) + product_offset(axes, axes.b, product),
          axes.b.column,
          axes.b.row,
          static_cast<int>(axes.n),
          static_cast<int>(axes.k),
          args.b_in_16_bytes};
}

// Stores this wave's sums, whose first has row and column `at` of the product.
template <int kWave, class Tile>
__device__ __forceinline__ void store_product(const gemm_tile::WaveSums<kWave, Tile>& sum,
                                              const MatmulArgs& args, std::int64_t product,
                                              gemm_tile::Place at) {
  constexpr int kNear = kWave == 32 ? 2 : 4;  // neighbours in a row that a lane holds
  const auto& axes = args.axes;
  const std::int64_t start = product_offset(axes, axes.y, product);
  const std::int64_t bytes = args.type == Element::f32 ? 4 : 2;
  const Rows y{static_cast<char*>(args.y) + start * bytes, axes.y.row, args.type};
  const int m = static_cast<int>(axes.m), n = static_cast<int>(axes.n);
#pragma unroll
  for (int i = 0; i < Tile::kRowTiles; ++i) {
#pragma unroll
    for (int j = 0; j < Tile::kColumnTiles; ++j) {
#pragma unroll
      for (int e = 0; e < TileSum<kWave>::kValues; e += kNear) {
        const int row = at.row + 16 * i + tile_row<kWave>(e);
        const int column = at.column + 16 * j + tile_column<kWave>(e);
        if (row >= m || column >= n) continue;
        float value[kNear];
#pragma unroll
        for (int v = 0; v < kNear; ++v) value[v] = args.scale * sum[i][j].value[e + v];
        if (axes.y.column == 1) {
          store_neighbours<kNear>(y, row, column, n, value);
        } else {
          for (int v = 0; v < kNear && column + v < n; ++v)
            store_element({y.data, 1, y.type}, row * y.stride + (column + v) * axes.y.column, 0,
                          value[v]);
        }
      }
    }
  }
}

}  // namespace biogpu::gpu::ops
