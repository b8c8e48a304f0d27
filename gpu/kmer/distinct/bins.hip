// The distinct values of each bin of a list, in order, and how often each occurs.
//
// Shapes   values[n] u64; begin[2][B + 1] and distinct_begin[B + 1] u64, distinct[n] u64, count[n]
// and
//          n_distinct[B] u32 for B bins.
// Mapping  a block of 1024 threads counts a bin in a table in shared memory, whose slots are in
//          order but for neighbours; a thread then orders each cluster of slots without a gap.
//          Gathering: a block a bin.
// Traffic  8 n read, 12 D written, read and written for D distinct values; about 30 steps of shared
//          memory a value. Bound by shared memory.
// Result   exact and in order, for every wave width. A bin that is left is listed, not counted.
// Limits   bins of 2^32 - 2^13 values.
// Source   own.
// Oracle   CountHashTable, lib/kmer/count/count_hash_table.hpp, through the counts.
#include "gpu/kmer/distinct/bins.hpp"

#include "gpu/kmer/block_sum.hpp"
#include "gpu/kmer/distinct/bin_table.hpp"
#include "gpu/rt/kernel.hpp"

namespace biogpu::gpu::kmer {
namespace {

constexpr unsigned kBlock = 1024;
constexpr unsigned kGatherBlock = 128;
constexpr unsigned kLoads = 4;  // of a thread, before the first is used
using Table = BinTable<kBlock>;
using Word = Table::Word;

__global__ __launch_bounds__(kBlock) void find_bins_kernel(BinsArgs a) {
  const std::uint64_t n_begins = std::uint64_t{a.n_bins} + 1;
  const std::uint64_t i = std::uint64_t{blockIdx.x} * kBlock + threadIdx.x;
  if (i >= 2 * n_begins) return;
  const bool first = i < n_begins;
  const std::uint64_t bin = first ? i : i - n_begins;
  std::uint64_t low = first ? 0 : a.n_first;
  std::uint64_t high = first ? a.n_first : a.n;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (a.values[middle] >> a.rest_bits < bin)
      low = middle + 1;
    else
      high = middle;
  }
  a.begin[i] = low;
}

// How many values lie in the bins before.
__device__ __forceinline__ std::uint64_t values_before(const BinsArgs& a, std::uint32_t bin) {
  return a.begin[bin] + a.begin[std::uint64_t{a.n_bins} + 1 + bin] - a.n_first;
}

template <int kWave>
__global__ __launch_bounds__(kBlock) void count_bins_kernel(BinsArgs a, int table_bits) {
  BIOGPU_DYNAMIC_SHARED(Word, shared);
  __shared__ std::uint32_t wave_sums[kBlock / kWave];
  __shared__ unsigned is_left;
  Table table(shared, table_bits);
  if (threadIdx.x == 0) is_left = 0;
  table.clear();
  __syncthreads();

  const std::uint32_t bin = a.wanted == nullptr ? blockIdx.x : a.wanted[blockIdx.x];
  const std::uint64_t* const first_begin = a.begin + bin;
  const std::uint64_t* const other_begin = first_begin + a.n_bins + 1;
  const auto n_first = static_cast<std::uint32_t>(first_begin[1] - first_begin[0]);
  const std::uint32_t n = n_first + static_cast<std::uint32_t>(other_begin[1] - other_begin[0]);
  const std::uint64_t* const first_values = a.values + first_begin[0];
  const std::uint64_t* const other_values = a.values + other_begin[0] - n_first;
  const Word rest = (Word{1} << a.rest_bits) - 1;
  const int to_slot = a.rest_bits > table_bits ? a.rest_bits - table_bits : 0;
  bool fits = true;
  for (std::uint32_t first = threadIdx.x; first < n; first += kBlock * kLoads) {
    Word key[kLoads];
#pragma unroll
    for (unsigned i = 0; i < kLoads; ++i) {
      const std::uint32_t at = first + i * kBlock;
      key[i] = at < n ? (at < n_first ? first_values : other_values)[at] & rest : Table::kEmpty;
    }
#pragma unroll
    for (unsigned i = 0; i < kLoads; ++i)
      if (key[i] != Table::kEmpty)
        fits = table.add(key[i], static_cast<unsigned>(key[i] >> to_slot)) && fits;
    if (!fits) break;
  }
  __syncthreads();
  const std::uint32_t n_distinct = table.number<kWave>(wave_sums);
  if (!fits || !table.order()) is_left = 1;
  __syncthreads();
  if (is_left != 0) {
    if (threadIdx.x == 0) a.left[atomicAdd(a.n_left, 1u)] = bin;
    return;
  }
  if (threadIdx.x == 0) a.n_distinct[bin] = n_distinct;
  const std::uint64_t high_bits = std::uint64_t{bin} << a.rest_bits;
  const std::uint64_t begin = values_before(a, bin);
  table.for_each([&](std::uint32_t i, Word key, std::uint32_t count) {
    a.distinct[begin + i] = high_bits | key;
    a.count[begin + i] = count;
  });
}

// One block: some ten thousand sums.
template <int kWave>
__global__ __launch_bounds__(kBlock) void sum_bins_kernel(BinsArgs a) {
  __shared__ std::uint32_t wave_sums[kBlock / kWave];
  std::uint64_t begin = 0;
  for (std::uint32_t first = 0; first < a.n_bins; first += kBlock) {
    const std::uint32_t bin = first + threadIdx.x;
    std::uint32_t total = 0;
    const std::uint32_t before =
        block_sum_before<kWave, kBlock>(bin < a.n_bins ? a.n_distinct[bin] : 0, wave_sums, &total);
    if (bin < a.n_bins) a.distinct_begin[bin] = begin + before;
    begin += total;
    __syncthreads();
  }
  if (threadIdx.x == 0) a.distinct_begin[a.n_bins] = begin;
}

__global__ __launch_bounds__(kGatherBlock) void gather_bins_kernel(BinsArgs a,
                                                                   std::uint64_t* distinct,
                                                                   std::uint32_t* count) {
  const std::uint64_t from = values_before(a, blockIdx.x);
  const std::uint64_t to = a.distinct_begin[blockIdx.x];
  const std::uint64_t n = a.distinct_begin[blockIdx.x + 1] - to;
  for (std::uint64_t i = threadIdx.x; i < n; i += kGatherBlock) {
    distinct[to + i] = a.distinct[from + i];
    count[to + i] = a.count[from + i];
  }
}

}  // namespace

std::size_t bin_table_bytes(int table_bits) { return Table::bytes(table_bits); }

void launch_find_bins(const BinsArgs& args, Stream& stream) {
  stream.launch(find_bins_kernel, ceil_div<std::size_t>(2 * (std::size_t{args.n_bins} + 1), kBlock),
                kBlock, args);
}

void launch_count_bins(const BinsArgs& args, std::uint32_t n_wanted, int table_bits,
                       Stream& stream) {
  if (n_wanted == 0) return;
  const auto kernel = stream.wave_width() == 64 ? count_bins_kernel<64> : count_bins_kernel<32>;
  stream.launch_shared(kernel, n_wanted, kBlock, bin_table_bytes(table_bits), args, table_bits);
}

void launch_sum_bins(const BinsArgs& args, Stream& stream) {
  const auto kernel = stream.wave_width() == 64 ? sum_bins_kernel<64> : sum_bins_kernel<32>;
  stream.launch(kernel, 1, kBlock, args);
}

void launch_gather_bins(const BinsArgs& args, std::uint64_t* distinct, std::uint32_t* count,
                        Stream& stream) {
  if (args.n_bins == 0) return;
  stream.launch(gather_bins_kernel, args.n_bins, kGatherBlock, args, distinct, count);
}

}  // namespace biogpu::gpu::kmer
