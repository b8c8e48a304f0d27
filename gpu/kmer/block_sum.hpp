#pragma once

// For .hip files: sums over the threads before one.
#include <cstdint>

#include "gpu/prim/wave.hpp"
#include "gpu/rt/kernel.hpp"

namespace biogpu::gpu::kmer {

// The sum of the values of all lanes of the wave before this one; *total is that of all.
template <int kWave>
__device__ __forceinline__ std::uint32_t wave_sum_before(std::uint32_t value,
                                                         std::uint32_t* total) {
  const auto lane = static_cast<unsigned>(wave_lane<kWave>());
  std::uint32_t sum = value;
#pragma unroll
  for (unsigned distance = 1; distance < kWave; distance *= 2) {
    const std::uint32_t other = wave_shuffle_up<kWave>(sum, distance);
    if (lane >= distance) sum += other;
  }
  *total = wave_shuffle<kWave>(sum, kWave - 1);
  return sum - value;
}

// The same for the threads of a block of kThreads, all of which call it. shared[kThreads / kWave]
// may be used again after the next barrier.
template <int kWave, unsigned kThreads>
__device__ std::uint32_t block_sum_before(std::uint32_t value, std::uint32_t* shared,
                                          std::uint32_t* total) {
  constexpr unsigned kWaves = kThreads / kWave;
  static_assert(kWaves <= kWave);
  std::uint32_t of_wave = 0;
  const std::uint32_t in_wave = wave_sum_before<kWave>(value, &of_wave);
  const unsigned wave = threadIdx.x / kWave;
  const auto lane = static_cast<unsigned>(wave_lane<kWave>());
  if (lane == 0) shared[wave] = of_wave;
  __syncthreads();
  const std::uint32_t mine = lane < kWaves ? shared[lane] : 0;
  const std::uint32_t before = wave_sum_before<kWave>(mine, total);
  return in_wave + wave_shuffle<kWave>(before, static_cast<int>(wave));
}

}  // namespace biogpu::gpu::kmer
