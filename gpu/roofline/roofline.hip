// Measures what the device can do at most: issue rates, random reads, matrix cores.
//
// Shapes   see roofline.hpp.
// Mapping  one thread runs independent chains of one operation, enough to hide its latency; one
//          thread reads one 32-byte block; one wave multiplies tiles.
// Traffic  operations: 4 bytes written per thread; gather: 36 bytes per block read.
// Result   the same numbers on every device, except for the order of fp32 sums.
// Source   own.
// Oracle   tests/unit/gpu/roofline_test.cpp computes packed and matrix results in plain C++.
#include "gpu/roofline/roofline.hpp"

#include "gpu/prim/i16x2.hpp"
#include "gpu/prim/matrix_tile.hpp"
#include "gpu/rt/kernel.hpp"

namespace biogpu::gpu::roofline {
namespace {

constexpr unsigned kBlock = 256;
constexpr int kChains = 8;

template <Operation kOperation>
__device__ __forceinline__ std::uint32_t apply(std::uint32_t x, std::uint32_t y, std::uint32_t z) {
  if constexpr (kOperation == Operation::add_u32) {
    return x + y;
  } else if constexpr (kOperation == Operation::multiply_add_f32) {
    return __builtin_bit_cast(
        std::uint32_t,
        __builtin_bit_cast(float, x) * __builtin_bit_cast(float, y) + __builtin_bit_cast(float, z));
  } else if constexpr (kOperation == Operation::packed_add) {
    return i16x2_add({x}, {y}).bits;
  } else if constexpr (kOperation == Operation::packed_max) {
    return i16x2_max({x}, {y}).bits;
  } else if constexpr (kOperation == Operation::packed_max3) {
    return i16x2_max3({x}, {y}, {z}).bits;
  } else if constexpr (kOperation == Operation::packed_add_max) {
    return i16x2_add_max({x}, {y}, {z}).bits;
  } else {
    return i16x2_add_max_relu({x}, {y}, {z}).bits;
  }
}

// Each chain takes the result of its neighbour, so that no operation can be folded into another.
template <Operation kOperation>
__global__ __launch_bounds__(kBlock) void operations_kernel(std::uint32_t n_iterations,
                                                            std::uint32_t* out) {
  const std::size_t thread = blockIdx.x * std::size_t{kBlock} + threadIdx.x;
  std::uint32_t chain[kChains];
#pragma unroll
  for (int c = 0; c < kChains; ++c) chain[c] = threadIdx.x * 77u + blockIdx.x + c * 0x10001u;
  for (std::uint32_t i = 0; i < n_iterations; ++i) {
#pragma unroll
    for (int step = 0; step < kOperationsPerRound / kChains; ++step) {
#pragma unroll
      for (int c = 0; c < kChains; ++c) {
        chain[c] = apply<kOperation>(chain[c], chain[(c + 1) % kChains], chain[(c + 2) % kChains]);
      }
    }
  }
  std::uint32_t sum = 0;
#pragma unroll
  for (int c = 0; c < kChains; ++c) sum ^= chain[c];
  out[thread] = sum;
}

__global__ __launch_bounds__(kBlock) void gather_kernel(const std::uint32_t* table,
                                                        std::uint32_t n_blocks,
                                                        std::uint32_t* out) {
  const std::size_t i = blockIdx.x * std::size_t{kBlock} + threadIdx.x;
  const std::uint64_t hash = i * 0x9E3779B97F4A7C15ull;
  const std::uint32_t block = static_cast<std::uint32_t>(hash >> 32) & (n_blocks - 1);
  const std::uint32_t* const words = table + std::size_t{8} * block;
  std::uint32_t sum = 0;
#pragma unroll
  for (int w = 0; w < 8; ++w) sum += words[w];
  out[i] = sum;
}

template <int kWave>
__global__ __launch_bounds__(4 * kWave) void matrix_tiles_kernel(std::uint32_t n_iterations,
                                                                 float* out) {
  TileOperand<kWave> a, b;
  for (int w = 0; w < TileOperand<kWave>::kWords; ++w) {
    a.word[w] = 0x3f803f80u + threadIdx.x;  // close to one
    b.word[w] = 0x3c003c00u + threadIdx.x;
  }
  TileSum<kWave> sum[kTilesPerRound] = {};
  for (std::uint32_t i = 0; i < n_iterations; ++i) {
#pragma unroll
    for (int tile = 0; tile < kTilesPerRound; ++tile) multiply_tile<kWave>(sum[tile], a, b);
  }
  float total = 0;
#pragma unroll
  for (int tile = 0; tile < kTilesPerRound; ++tile) {
#pragma unroll
    for (int e = 0; e < TileSum<kWave>::kValues; ++e) total += sum[tile].value[e];
  }
  out[blockIdx.x * std::size_t{blockDim.x} + threadIdx.x] = total;
}

template <int kWave>
__global__ void matrix_product_kernel(const std::uint16_t* a, const std::uint16_t* b, float* d) {
  TileSum<kWave> sum = {};
  multiply_tile<kWave>(sum, load_tile_a<kWave>(a, 16), load_tile_b<kWave>(b, 16));
  for (int e = 0; e < TileSum<kWave>::kValues; ++e) {
    d[16 * tile_row<kWave>(e) + tile_column<kWave>(e)] = sum.value[e];
  }
}

__global__ void packed_kernel(const std::uint32_t* a, const std::uint32_t* b,
                              const std::uint32_t* c, std::size_t n, std::uint32_t* out) {
  const std::size_t i = blockIdx.x * std::size_t{kBlock} + threadIdx.x;
  if (i >= n) return;
  std::uint32_t* const mine = out + kPackedResults * i;
  mine[0] = i16x2_add({a[i]}, {b[i]}).bits;
  mine[1] = i16x2_max({a[i]}, {b[i]}).bits;
  mine[2] = i16x2_max3({a[i]}, {b[i]}, {c[i]}).bits;
  mine[3] = i16x2_add_max({a[i]}, {b[i]}, {c[i]}).bits;
  mine[4] = i16x2_add_max_relu({a[i]}, {b[i]}, {c[i]}).bits;
}

}  // namespace

void launch_operations(Operation operation, std::uint32_t n_iterations, std::size_t n_threads,
                       std::uint32_t* out, Stream& stream) {
  const auto run = [&](auto kernel) {
    stream.launch(kernel, n_threads / kBlock, kBlock, n_iterations, out);
  };
  switch (operation) {
    case Operation::add_u32:
      return run(operations_kernel<Operation::add_u32>);
    case Operation::multiply_add_f32:
      return run(operations_kernel<Operation::multiply_add_f32>);
    case Operation::packed_add:
      return run(operations_kernel<Operation::packed_add>);
    case Operation::packed_max:
      return run(operations_kernel<Operation::packed_max>);
    case Operation::packed_max3:
      return run(operations_kernel<Operation::packed_max3>);
    case Operation::packed_add_max:
      return run(operations_kernel<Operation::packed_add_max>);
    case Operation::packed_add_max_relu:
      return run(operations_kernel<Operation::packed_add_max_relu>);
  }
}

void launch_gather(const std::uint32_t* table, std::uint32_t n_blocks, std::size_t n,
                   std::uint32_t* out, Stream& stream) {
  stream.launch(gather_kernel, n / kBlock, kBlock, table, n_blocks, out);
}

void launch_matrix_tiles(std::uint32_t n_iterations, std::size_t n_waves, float* out,
                         Stream& stream) {
  const auto kernel = stream.wave_width() == 64 ? matrix_tiles_kernel<64> : matrix_tiles_kernel<32>;
  const auto n_threads = static_cast<unsigned>(4 * stream.wave_width());
  stream.launch(kernel, n_waves / 4, n_threads, n_iterations, out);
}

void launch_matrix_product(const std::uint16_t* a, const std::uint16_t* b, float* d,
                           Stream& stream) {
  const auto kernel =
      stream.wave_width() == 64 ? matrix_product_kernel<64> : matrix_product_kernel<32>;
  stream.launch(kernel, 1, static_cast<unsigned>(stream.wave_width()), a, b, d);
}

void launch_packed(const std::uint32_t* a, const std::uint32_t* b, const std::uint32_t* c,
                   std::size_t n, std::uint32_t* out, Stream& stream) {
  if (n == 0) return;
  stream.launch(packed_kernel, ceil_div(n, kBlock), kBlock, a, b, c, n, out);
}

}  // namespace biogpu::gpu::roofline
