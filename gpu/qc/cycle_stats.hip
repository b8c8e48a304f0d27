// Bases and qualities by cycle, and 5-mers, of the reads of one mate.
//
// Shapes   see CycleStatsArgs.
// Mapping  a wave holds kWave neighbouring cycles, a lane one, and goes through kSlice reads with
//          its sums in registers. Waves of a block share one table of 5-mers.
// Traffic  2 bytes a base, and 4 more of the bases from the first-level cache; 88 bytes of atomics
//          a cycle and slice. Bound by the loads' latency.
// Result   exact and independent of the grid: sums of integers.
// Limits   kSlice * 255 fits 32 bits.
// Source   own.
// Oracle   StatsAdder::add_ref, lib/qc/stats/read_stats.cpp.
#include "gpu/qc/cycle_stats.hpp"

#include "gpu/prim/wave.hpp"
#include "gpu/rt/kernel.hpp"

namespace biogpu::gpu::qc {
namespace {

constexpr int kWavesPerBlock = 8;
constexpr std::uint32_t kSlice = 128;
constexpr int kMerLength = 5;

struct LaneSums {
  unsigned bases[kLetters] = {0, 0, 0, 0, 0};
  int quality[kLetters - 1] = {0, 0, 0, 0};
  unsigned all_bases = 0;
  int all_quality = 0;
  unsigned q20 = 0, q30 = 0, q40 = 0;
};

// 2 bits of an upper-case base, 4 for every other letter.
__device__ __forceinline__ unsigned mer_code(char base) {
  return base == 'A' ? 0u : base == 'T' ? 1u : base == 'C' ? 2u : base == 'G' ? 3u : 4u;
}

__device__ __forceinline__ void add_base(char base, char quality, LaneSums& sums) {
  constexpr int kCodes[kLetters] = {'A' & 7, 'T' & 7, 'C' & 7, 'G' & 7, 'N' & 7};
  const int phred = static_cast<signed char>(quality) - 33;
#pragma unroll
  for (int k = 0; k < kLetters; ++k) {
    const bool is = (base & 7) == kCodes[k];
    sums.bases[k] += is ? 1u : 0u;
    if (k < kLetters - 1) sums.quality[k] += is ? phred : 0;
  }
  ++sums.all_bases;
  sums.all_quality += phred;
  sums.q20 += phred >= 20 ? 1u : 0u;
  sums.q30 += phred >= 30 ? 1u : 0u;
  sums.q40 += phred >= 40 ? 1u : 0u;
}

// The 5-mer that ends at this base.
__device__ __forceinline__ void add_kmer(const char* base, unsigned* kmers) {
  unsigned kmer = 0;
  bool valid = true;
#pragma unroll
  for (int k = kMerLength - 1; k >= 0; --k) {
    const unsigned code = mer_code(base[-k]);
    valid = valid && code < 4;
    kmer = kmer << 2 | (code & 3);
  }
  if (valid) atomicAdd(&kmers[kmer], 1u);
}

__device__ __forceinline__ void flush(const LaneSums& sums, CycleCounts& cycle) {
  if (sums.all_bases == 0) return;
  for (int k = 0; k < kLetters; ++k)
    if (sums.bases[k] != 0) atomicAdd(&cycle.bases[k], sums.bases[k]);
  for (int k = 0; k < kLetters - 1; ++k)
    if (sums.quality[k] != 0)
      atomicAdd(&cycle.quality[k], static_cast<unsigned long long>(sums.quality[k]));
  atomicAdd(&cycle.all_bases, sums.all_bases);
  atomicAdd(&cycle.all_quality, static_cast<unsigned long long>(sums.all_quality));
}

template <int kWave>
__global__ BIOGPU_LAUNCH_BOUNDS(kWavesPerBlock* kWave,
                                1) void cycle_stats_kernel(CycleStatsArgs a) {
  __shared__ unsigned kmers[kKmers];
  for (unsigned k = threadIdx.x; k < kKmers; k += kWavesPerBlock * kWave) kmers[k] = 0;
  __syncthreads();
  const auto n_columns = static_cast<std::uint32_t>(ceil_div(a.max_length, kWave));
  const std::uint32_t wave = blockIdx.x * kWavesPerBlock + threadIdx.x / kWave;
  const int cycle =
      static_cast<int>(wave % n_columns) * kWave + static_cast<int>(threadIdx.x % kWave);
  const std::uint32_t first = wave / n_columns * kSlice;
  const auto mates = static_cast<std::uint32_t>(a.reads.mates);
  const std::uint32_t n_items = a.reads.n_reads / mates;
  LaneSums sums;
  const std::uint32_t end = first + kSlice < n_items ? first + kSlice : n_items;
  for (std::uint32_t item = first; item < end; ++item) {
    const std::uint32_t read = item * mates + static_cast<std::uint32_t>(a.mate);
    std::uint32_t begin = a.reads.begin[read];
    int length = static_cast<int>(a.reads.begin[read + 1] - begin);
    if (a.results != nullptr) {
      const TrimResult result = a.results[read];
      begin += result.begin;
      length = (result.flags & kCountsAfter) != 0 ? result.length : 0;
    }
    if (cycle >= length) continue;
    const char* base = a.reads.bases + begin + cycle;
    add_base(*base, a.reads.quality[begin + static_cast<std::uint32_t>(cycle)], sums);
    if (cycle >= kMerLength - 1) add_kmer(base, kmers);
  }
  if (cycle < a.max_length) flush(sums, a.sums->cycles[cycle]);
  const auto q20 = wave_sum<kWave>(sums.q20);
  const auto q30 = wave_sum<kWave>(sums.q30);
  const auto q40 = wave_sum<kWave>(sums.q40);
  if (threadIdx.x % kWave == 0 && q20 != 0) {
    atomicAdd(&a.sums->q20, q20);
    atomicAdd(&a.sums->q30, q30);
    atomicAdd(&a.sums->q40, q40);
  }
  __syncthreads();
  for (unsigned k = threadIdx.x; k < kKmers; k += kWavesPerBlock * kWave)
    if (kmers[k] != 0) atomicAdd(&a.sums->kmers[k], kmers[k]);
}

}  // namespace

void launch_cycle_stats(const CycleStatsArgs& a, Stream& stream) {
  if (a.reads.n_reads == 0 || a.max_length == 0) return;  // an empty grid is a launch error
  const auto width = static_cast<unsigned>(stream.wave_width());
  const auto mates = static_cast<std::size_t>(a.reads.mates);
  const std::size_t n_slices = ceil_div<std::size_t>(a.reads.n_reads / mates, kSlice);
  const std::size_t n_columns =
      ceil_div<std::size_t>(static_cast<std::size_t>(a.max_length), width);
  const auto kernel = width == 64 ? cycle_stats_kernel<64> : cycle_stats_kernel<32>;
  stream.launch(kernel, ceil_div<std::size_t>(n_slices * n_columns, kWavesPerBlock),
                kWavesPerBlock * width, a);
}

}  // namespace biogpu::gpu::qc
