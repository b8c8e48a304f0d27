// The key of each read or pair in each of fastp's tables of duplicates.
//
// Shapes   see DuplicateKeysArgs.
// Mapping  a wave a read or pair, lanes its bases; four waves a block.
// Traffic  a byte a base and table, 8 bytes a key; primes come from the cache. Memory bound.
// Result   exact: sums modulo 2^64.
// Source   fastp's hash: sum of prime(p) * (value(base) + p).
// Oracle   DuplicateHash::key, lib/qc/stats/duplicates.cpp.
#include "gpu/qc/duplicate_keys.hpp"

#include "gpu/prim/wave.hpp"
#include "gpu/rt/kernel.hpp"

namespace biogpu::gpu::qc {
namespace {

constexpr int kWavesPerBlock = 4;

__device__ __forceinline__ unsigned value_of(char base) {
  return base == 'A' ? 7u : base == 'T' ? 222u : base == 'C' ? 74u : base == 'G' ? 31u : 13u;
}

template <int kWave>
__global__ BIOGPU_LAUNCH_BOUNDS(kWavesPerBlock* kWave,
                                8) void duplicate_keys_kernel(DuplicateKeysArgs a) {
  const std::uint32_t item = blockIdx.x * kWavesPerBlock + threadIdx.x / kWave;
  const auto mates = static_cast<std::uint32_t>(a.reads.mates);
  if (item * mates >= a.reads.n_reads) return;  // the whole wave
  // Mates lie one behind the other, as the hash runs through them.
  const std::uint32_t begin = a.reads.begin[item * mates];
  const std::uint32_t length = a.reads.begin[item * mates + mates] - begin;
  for (std::uint32_t t = 0; t < a.n_tables; ++t) {
    const std::uint32_t* primes = a.primes + t * a.period;
    unsigned long long sum = 0;
    for (std::uint32_t p = threadIdx.x % kWave; p < length; p += kWave)
      sum += static_cast<unsigned long long>(primes[p & (a.period - 1)]) *
             (value_of(a.reads.bases[begin + p]) + p);
    sum = wave_sum<kWave>(sum);
    if (threadIdx.x % kWave == 0) a.keys[item * a.n_tables + t] = sum & a.mask;
  }
}

}  // namespace

void launch_duplicate_keys(const DuplicateKeysArgs& a, Stream& stream) {
  if (a.reads.n_reads == 0) return;  // an empty grid is a launch error
  const auto width = static_cast<unsigned>(stream.wave_width());
  const std::uint32_t n_items = a.reads.n_reads / static_cast<std::uint32_t>(a.reads.mates);
  const auto kernel = width == 64 ? duplicate_keys_kernel<64> : duplicate_keys_kernel<32>;
  stream.launch(kernel, ceil_div<std::size_t>(n_items, kWavesPerBlock), kWavesPerBlock * width, a);
}

}  // namespace biogpu::gpu::qc
