#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/rt/stream.hpp"

// Kernels that do one thing only, as fast as the device can: the figures that the project's kernels
// are held against (docs/benchmarks/limits.md).
namespace biogpu::gpu::roofline {

// An operation whose issue rate is measured. The packed ones work on two 16-bit halves.
enum class Operation {
  add_u32,
  multiply_add_f32,
  packed_add,
  packed_max,
  packed_max3,
  packed_add_max,
  packed_add_max_relu,
};

// Runs n_iterations rounds of kOperationsPerRound independent operations in each of n_threads
// threads (a multiple of 256). out[n_threads] keeps the results alive.
inline constexpr int kOperationsPerRound = 64;
void launch_operations(Operation operation, std::uint32_t n_iterations, std::size_t n_threads,
                       std::uint32_t* out, Stream& stream);

// Reads n blocks of 32 bytes at pseudo-random places of table[n_blocks * 8], n_blocks a power of
// two, n a multiple of 256; out[n] holds a sum of each.
void launch_gather(const std::uint32_t* table, std::uint32_t n_blocks, std::size_t n,
                   std::uint32_t* out, Stream& stream);

// n_iterations rounds of kTilesPerRound independent 16 x 16 x 16 products of bf16 in each of
// n_waves waves (a multiple of 4); out[n_waves * wave_width] keeps the results alive.
inline constexpr int kTilesPerRound = 8;
void launch_matrix_tiles(std::uint32_t n_iterations, std::size_t n_waves, float* out,
                         Stream& stream);

// d[16, 16] = a[16, 16] * b[16, 16] by one wave; a row-major, b column-major, bf16 bits, d
// row-major.
void launch_matrix_product(const std::uint16_t* a, const std::uint16_t* b, float* d,
                           Stream& stream);

// out[5 * i ...] = packed add, max, max3, add_max, add_max_relu of (a[i], b[i], c[i]).
inline constexpr int kPackedResults = 5;
void launch_packed(const std::uint32_t* a, const std::uint32_t* b, const std::uint32_t* c,
                   std::size_t n, std::uint32_t* out, Stream& stream);

}  // namespace biogpu::gpu::roofline
