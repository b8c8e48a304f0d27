// The best targets of each query: the `top` highest scores, the lower target first among equals.
//
// Shapes   see SearchTopArgs.
// Mapping  a block of 256 threads a query; two counts of 256 bins find the lowest score that still
//          has a place, then one pass in the order of the targets takes what is above it and as
//          many of those equal to it as have a place.
// Traffic  3 times 2 bytes a score, 8 bytes a hit. Bound by memory.
// Result   the set is exact and deterministic, its order is not.
// Limits   2^32 targets.
// Source   own; the counts are the first digits of a radix selection.
// Oracle   HitPicker, lib/align/search.cpp.
#include "gpu/align/search/search_top.hpp"

#include "gpu/prim/wave.hpp"
#include "gpu/rt/kernel.hpp"

namespace biogpu::gpu::align {
namespace {

constexpr unsigned kBlock = 256;
constexpr unsigned kBins = 256;

// What a query keeps: every score above `above`, and the first n_equal equal to it.
struct Cut {
  std::uint32_t above;
  std::uint32_t n_equal;
};

__device__ __forceinline__ bool is_candidate(const SearchTopArgs& a, std::uint32_t score) {
  return score >= a.min_score && score < a.limit;
}

// Adds up candidates by eight bits of their score; with `high`, those alone that have these upper
// bits, by the lower ones.
__device__ void count_scores(const SearchTopArgs& a, const std::uint16_t* row, int high,
                             std::uint32_t* bins) {
  bins[threadIdx.x] = 0;
  __syncthreads();
  for (std::uint64_t i = threadIdx.x; i < a.n_targets; i += kBlock) {
    const std::uint32_t score = row[i];
    if (!is_candidate(a, score)) continue;
    if (high < 0) atomicAdd(&bins[score >> 8], 1u);
    if (high >= 0 && static_cast<int>(score >> 8) == high) atomicAdd(&bins[score & 255u], 1u);
  }
  __syncthreads();
}

// The bin in which the wanted-th candidate from the top lies, -1 where there are fewer; the number
// still wanted of that bin. One thread.
__device__ int find_bin(const std::uint32_t* bins, std::uint32_t& wanted) {
  for (int bin = kBins - 1; bin >= 0; --bin) {
    if (bins[bin] >= wanted) return bin;
    wanted -= bins[bin];
  }
  return -1;
}

__device__ Cut find_cut(const SearchTopArgs& a, const std::uint16_t* row, std::uint32_t* bins,
                        int* shared_bin, std::uint32_t* shared_wanted) {
  count_scores(a, row, -1, bins);
  if (threadIdx.x == 0) {
    *shared_wanted = a.top;
    *shared_bin = find_bin(bins, *shared_wanted);
  }
  __syncthreads();
  const int high = *shared_bin;
  if (high < 0) return {a.min_score, ~0u};  // all candidates have a place
  count_scores(a, row, high, bins);
  if (threadIdx.x == 0) *shared_bin = find_bin(bins, *shared_wanted);
  __syncthreads();
  return {static_cast<std::uint32_t>(high << 8 | *shared_bin), *shared_wanted};
}

// The number of set votes of lower threads in the block, and of all; all threads take part.
template <int kWave>
__device__ std::uint32_t rank_in_block(bool vote, std::uint32_t* of_waves, std::uint32_t& all) {
  const unsigned lane = threadIdx.x % kWave;
  const std::uint64_t votes = wave_ballot<kWave>(vote);
  __syncthreads();  // the last counts are no longer read
  if (lane == 0) of_waves[threadIdx.x / kWave] = static_cast<std::uint32_t>(__popcll(votes));
  __syncthreads();
  std::uint32_t rank =
      static_cast<std::uint32_t>(__popcll(votes & ((std::uint64_t{1} << lane) - 1)));
  all = 0;
  for (unsigned wave = 0; wave < kBlock / kWave; ++wave) {
    if (wave < threadIdx.x / kWave) rank += of_waves[wave];
    all += of_waves[wave];
  }
  return rank;
}

template <int kWave>
__global__ BIOGPU_LAUNCH_BOUNDS(kBlock, 4) void search_top_kernel(SearchTopArgs a) {
  __shared__ std::uint32_t bins[kBins];
  __shared__ std::uint32_t of_waves[kBlock / kWave];
  __shared__ int shared_bin;
  __shared__ std::uint32_t shared_wanted;
  __shared__ std::uint32_t n_taken;
  const std::uint64_t slot = blockIdx.x;
  const std::uint16_t* const row = a.score + slot * a.n_targets;
  SearchHit* const hits = a.hits + slot * a.top;
  if (threadIdx.x == 0) n_taken = 0;
  const Cut cut = find_cut(a, row, bins, &shared_bin, &shared_wanted);
  std::uint32_t n_equal = 0;  // those before this round
  for (std::uint64_t begin = 0; begin < a.n_targets; begin += kBlock) {
    const std::uint64_t i = begin + threadIdx.x;
    const std::uint32_t score = i < a.n_targets ? row[i] : 0u;
    const bool real = i < a.n_targets && is_candidate(a, score);
    const bool equal = real && score == cut.above;
    std::uint32_t all = 0;
    const std::uint32_t rank = n_equal + rank_in_block<kWave>(equal, of_waves, all);
    n_equal += all;
    if ((real && score > cut.above) || (equal && rank < cut.n_equal))
      hits[atomicAdd(&n_taken, 1u)] = {static_cast<std::uint32_t>(i), score};
  }
  __syncthreads();
  if (threadIdx.x == 0) a.n_hits[slot] = n_taken;
}

}  // namespace

void launch_search_top(const SearchTopArgs& a, Stream& stream) {
  if (a.n_slots == 0) return;  // an empty grid is a launch error
  const auto kernel = stream.wave_width() == 64 ? search_top_kernel<64> : search_top_kernel<32>;
  stream.launch(kernel, a.n_slots, kBlock, a);
}

}  // namespace biogpu::gpu::align
