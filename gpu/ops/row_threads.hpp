#pragma once

// Kernels that have a thread for a few numbers of a row, in order of memory.

#include <cstddef>
#include <cstdint>

#include "gpu/rt/kernel.hpp"

namespace biogpu::gpu::ops {

inline constexpr unsigned kRowBlock = 256;

__device__ __forceinline__ std::int64_t thread_number() {
  return blockIdx.x * std::int64_t{kRowBlock} + threadIdx.x;
}

// Row and group of this thread where a row has `groups`; 32 bits where they do: a division of 64
// takes longer than what is done with its result.
struct RowGroup {
  std::int64_t row;
  int group;
};
__device__ __forceinline__ RowGroup row_group(int groups) {
  const std::int64_t number = thread_number();
  if (number >> 32 == 0) {
    const auto low = static_cast<std::uint32_t>(number), by = static_cast<std::uint32_t>(groups);
    return {low / by, static_cast<int>(low % by)};
  }
  return {number / groups, static_cast<int>(number % groups)};
}

inline std::size_t row_blocks(std::int64_t n_threads) {
  return static_cast<std::size_t>(ceil_div(n_threads, kRowBlock));
}

}  // namespace biogpu::gpu::ops
