// The distinct values of a sorted list, in order, and how often each occurs.
//
// Shapes   sorted[n] u64, or begins[n/16] u16; n_in_block[B] u32, block_begin[B + 1] u64, B =
// ceil(n / kTile);
//          distinct[R] u64, run_begin[R + 1] u64, run_length[R] u32 for R runs.
// Mapping  256 threads a block, 16 neighbouring values a thread, read through shared memory; begins
// are
//          counted a block, summed up by one block, and listed by a second pass.
// Traffic  2 * 8 n read, 28 R written and read; memory bound.
// Result   exact and in order, for every wave width.
// Limits   2^32 - 1 values.
// Source   own.
// Oracle   CountHashTable, lib/kmer/count/count_hash_table.hpp, through the counts.
#include "gpu/kmer/distinct/runs.hpp"

#include "gpu/rt/kernel.hpp"

namespace biogpu::gpu::kmer {
namespace {

constexpr unsigned kBlock = 256;
constexpr unsigned kItems = 16;
constexpr std::size_t kTile = kBlock * kItems;
constexpr unsigned kSumBlock = 1024;

// The values of a block, read side by side; one of padding after each thread's keeps threads off
// each other's banks.
struct Tile {
  std::uint64_t value[kTile + kBlock];

  __device__ static unsigned at(unsigned i) { return i + i / kItems; }

  __device__ void load(const RunsArgs& a) {
    const std::uint64_t begin = std::uint64_t{blockIdx.x} * kTile;
    for (unsigned i = threadIdx.x; i < kTile; i += kBlock)
      if (begin + i < a.n) value[at(i)] = a.sorted[begin + i];
    __syncthreads();
  }
};

// Bit i: a run begins at value first + i of the list, where first is the thread's.
__device__ __forceinline__ std::uint32_t find_begins(const RunsArgs& a, Tile& tile) {
  if (a.begins == nullptr) tile.load(a);
  const std::uint64_t first =
      std::uint64_t{blockIdx.x} * kTile + std::uint64_t{threadIdx.x} * kItems;
  if (first >= a.n) return 0;
  if (a.begins != nullptr) return a.begins[first / kItems];
  const unsigned mine = threadIdx.x * kItems;
  std::uint64_t before = ~tile.value[tile.at(mine)];
  if (mine > 0)
    before = tile.value[tile.at(mine - 1)];
  else if (first > 0)
    before = a.sorted[first - 1];
  std::uint32_t begins = 0;
  for (unsigned i = 0; i < kItems && first + i < a.n; ++i) {
    const std::uint64_t value = tile.value[tile.at(mine + i)];
    begins |= (value != before ? 1u : 0u) << i;
    before = value;
  }
  return begins;
}

// The sum of the values of all threads before this one; *total is that of all.
template <unsigned kThreads, class T>
__device__ T sum_before(T value, T* shared, T* total) {
  const unsigned t = threadIdx.x;
  shared[t] = value;
  __syncthreads();
  for (unsigned distance = 1; distance < kThreads; distance *= 2) {
    const T other = t >= distance ? shared[t - distance] : T{0};
    __syncthreads();
    shared[t] += other;
    __syncthreads();
  }
  *total = shared[kThreads - 1];
  const T sum = shared[t] - value;
  __syncthreads();
  return sum;
}

__global__ __launch_bounds__(kBlock) void count_runs_kernel(RunsArgs a) {
  __shared__ Tile tile;
  __shared__ std::uint32_t n_block;
  if (threadIdx.x == 0) n_block = 0;
  __syncthreads();
  const std::uint32_t begins = find_begins(a, tile);
  if (begins != 0) atomicAdd(&n_block, static_cast<std::uint32_t>(__popc(begins)));
  __syncthreads();
  if (threadIdx.x == 0) a.n_in_block[blockIdx.x] = n_block;
}

// One block: a few hundred thousand sums at most.
__global__ __launch_bounds__(kSumBlock) void sum_blocks_kernel(RunsArgs a, std::uint64_t n_blocks) {
  __shared__ std::uint64_t shared[kSumBlock];
  std::uint64_t begin = 0;
  for (std::uint64_t first = 0; first < n_blocks; first += kSumBlock) {
    const std::uint64_t i = first + threadIdx.x;
    std::uint64_t total = 0;
    const std::uint64_t mine = i < n_blocks ? a.n_in_block[i] : 0;
    const std::uint64_t before = sum_before<kSumBlock>(mine, shared, &total);
    if (i < n_blocks) a.block_begin[i] = begin + before;
    begin += total;
  }
  if (threadIdx.x == 0) a.block_begin[n_blocks] = begin;
}

__global__ __launch_bounds__(kBlock) void list_runs_kernel(RunsArgs a, std::uint64_t n_blocks) {
  __shared__ Tile tile;
  __shared__ std::uint32_t shared[kBlock];
  const std::uint32_t begins = find_begins(a, tile);
  const unsigned mine = threadIdx.x * kItems;
  const std::uint64_t first = std::uint64_t{blockIdx.x} * kTile + mine;
  std::uint32_t total = 0;
  const std::uint32_t before =
      sum_before<kBlock>(static_cast<std::uint32_t>(__popc(begins)), shared, &total);
  std::uint64_t at = a.block_begin[blockIdx.x] + before;
  for (unsigned i = 0; i < kItems; ++i)
    if ((begins >> i & 1) != 0) {
      if (a.begins == nullptr) a.distinct[at] = tile.value[tile.at(mine + i)];
      a.run_begin[at] = first + i;
      ++at;
    }
  if (blockIdx.x == 0 && threadIdx.x == 0) a.run_begin[a.block_begin[n_blocks]] = a.n;
}

__global__ __launch_bounds__(kBlock) void run_lengths_kernel(RunsArgs a, std::uint64_t n_runs) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * kBlock + threadIdx.x;
  if (i < n_runs) a.run_length[i] = static_cast<std::uint32_t>(a.run_begin[i + 1] - a.run_begin[i]);
}

}  // namespace

std::size_t n_run_blocks(std::size_t n) { return ceil_div<std::size_t>(n, kTile); }

void launch_count_runs(const RunsArgs& args, Stream& stream) {
  if (args.n == 0) return;
  const std::size_t n_blocks = n_run_blocks(args.n);
  stream.launch(count_runs_kernel, n_blocks, kBlock, args);
  stream.launch(sum_blocks_kernel, 1, kSumBlock, args, static_cast<std::uint64_t>(n_blocks));
}

void launch_list_runs(const RunsArgs& args, std::uint64_t n_runs, Stream& stream) {
  if (args.n == 0) return;
  const std::size_t n_blocks = n_run_blocks(args.n);
  stream.launch(list_runs_kernel, n_blocks, kBlock, args, static_cast<std::uint64_t>(n_blocks));
  stream.launch(run_lengths_kernel, ceil_div<std::size_t>(n_runs, kBlock), kBlock, args, n_runs);
}

}  // namespace biogpu::gpu::kmer
