// The steps of a suffix sort block by block: bins, lists of suffixes, words behind ties.
//
// Shapes   those of gpu/bwt/block_sort.hpp; n of a block below 2^32, of the text 64 bits.
// Mapping  bins and lists: one thread a run of 64 suffixes, neighbours in the text, so that its
//          words come from the first-level cache; the rest one thread an element.
// Traffic  a pass over the text n * bits / 8 bytes, two for each block; a list 20 bytes a
//          suffix; the rest 12 to 24 bytes and a gathered word for each. Memory bound but for the
//          passes over the text: some 20 instructions a suffix.
// Result   integers, the same for every grid, wave width and size of block.
// Source   own; the idea of blocks: Karkkainen, doi:10.1016/j.tcs.2007.07.018
// Oracle   sort_suffixes_ref, lib/bwt/suffix/suffix_array_ref.cpp
#include "gpu/bwt/block_sort.hpp"
#include "gpu/bwt/suffix_words.hpp"
#include "gpu/rt/kernel.hpp"

namespace biogpu::gpu::bwt {
namespace {

__device__ __forceinline__ std::uint32_t bin_of(std::uint64_t word) {
  return static_cast<std::uint32_t>(word >> (64 - kBinBits));
}

__global__ void count_bins_kernel(SuffixText text, unsigned long long* bins) {
  __shared__ std::uint32_t counts[kBins];
  for (std::uint32_t b = threadIdx.x; b < kBins; b += kBlock) counts[b] = 0;
  __syncthreads();
  const std::uint64_t step = static_cast<std::uint64_t>(gridDim.x) * kBlock * kRun;
  for (std::uint64_t begin = static_cast<std::uint64_t>(thread_index()) * kRun; begin < text.n;
       begin += step) {
    const std::uint64_t end = begin + kRun < text.n ? begin + kRun : text.n;
    // Equal neighbours are counted first: a text of one letter has one bin for all.
    std::uint32_t bin = bin_of(word_at(text, begin));
    std::uint32_t n_same = 0;
    for (std::uint64_t i = begin; i < end; ++i) {
      const std::uint32_t next = bin_of(word_at(text, i));
      if (next != bin) {
        atomicAdd(&counts[bin], n_same);
        bin = next;
        n_same = 0;
      }
      ++n_same;
    }
    atomicAdd(&counts[bin], n_same);
  }
  __syncthreads();
  for (std::uint32_t b = threadIdx.x; b < kBins; b += kBlock)
    if (counts[b] != 0) atomicAdd(&bins[b], static_cast<unsigned long long>(counts[b]));
}

__global__ void count_run_kernel(SuffixText text, std::uint32_t first, std::uint32_t n_bins,
                                 std::uint32_t* counts) {
  const std::uint32_t run = thread_index();
  const std::uint64_t begin = static_cast<std::uint64_t>(run) * kRun;
  if (begin >= text.n) return;
  const std::uint64_t end = begin + kRun < text.n ? begin + kRun : text.n;
  std::uint32_t n = 0;
  for (std::uint64_t j = begin; j < end; ++j)
    n += bin_of(word_at(text, listed(text, j))) - first < n_bins ? 1 : 0;
  counts[run] = n;
}

__global__ void list_run_kernel(SuffixText text, std::uint32_t first, std::uint32_t n_bins,
                                const std::uint32_t* sums, std::uint64_t* positions,
                                std::uint64_t* keys, std::uint32_t* values) {
  const std::uint32_t run = thread_index();
  const std::uint64_t begin = static_cast<std::uint64_t>(run) * kRun;
  if (begin >= text.n) return;
  const std::uint64_t end = begin + kRun < text.n ? begin + kRun : text.n;
  std::uint32_t to = run == 0 ? 0 : sums[run - 1];
  if (sums[run] == to) return;
  for (std::uint64_t j = begin; j < end; ++j) {
    const std::uint64_t position = listed(text, j);
    const std::uint64_t word = word_at(text, position);
    if (bin_of(word) - first >= n_bins) continue;
    positions[to] = position;
    keys[to] = word;
    values[to] = to;
    ++to;
  }
}

__global__ void block_heads_kernel(SuffixText text, const std::uint64_t* keys,
                                   const std::uint32_t* rows, const std::uint64_t* positions,
                                   std::uint32_t n, std::uint32_t* heads) {
  const std::uint32_t i = thread_index();
  if (i >= n) return;
  const bool head =
      i == 0 || keys[i] != keys[i - 1] || ends_within(text, positions[rows[i - 1]], keys[i - 1]);
  heads[i] = head ? i : 0;
}

__global__ void next_words_kernel(SuffixText text, const std::uint32_t* rows,
                                  const std::uint64_t* positions, std::uint64_t depth,
                                  std::uint32_t n, std::uint64_t* keys, std::uint32_t* values) {
  const std::uint32_t k = thread_index();
  if (k >= n) return;
  keys[k] = word_at(text, positions[rows[k]] + depth);
  if (values != nullptr) values[k] = k;
}

__global__ void group_keys_kernel(const std::uint32_t* group, const std::uint32_t* values,
                                  std::uint32_t n, std::uint64_t* keys) {
  const std::uint32_t k = thread_index();
  if (k < n) keys[k] = group[values[k]];
}

__global__ void order_rows_kernel(const std::uint32_t* from, const std::uint32_t* order,
                                  const std::uint32_t* place, std::uint32_t n, std::uint32_t* to,
                                  std::uint32_t* sorted) {
  const std::uint32_t k = thread_index();
  if (k >= n) return;
  const std::uint32_t row = from[order[k]];
  to[k] = row;
  sorted[place[k]] = row;
}

__global__ void word_heads_kernel(SuffixText text, const std::uint64_t* words,
                                  const std::uint32_t* rows, const std::uint64_t* positions,
                                  TiedItems active, std::uint64_t depth, std::uint32_t n,
                                  std::uint32_t* heads) {
  const std::uint32_t k = thread_index();
  if (k >= n) return;
  const bool head = k == 0 || active.group[k] != active.group[k - 1] || words[k] != words[k - 1] ||
                    ends_within(text, positions[rows[k - 1]] + depth, words[k - 1]);
  heads[k] = head ? active.place[k] : 0;
}

template <class Index>
__global__ void positions_kernel(const std::uint64_t* positions, const std::uint32_t* rows,
                                 std::uint32_t n, Index* out) {
  const std::uint32_t i = thread_index();
  if (i < n) out[i] = static_cast<Index>(positions[rows[i]]);
}

std::size_t blocks_for(std::uint64_t n) { return ceil_div<std::size_t>(n, kBlock); }
std::size_t blocks_for_runs(const SuffixText& text) {
  return blocks_for(ceil_div<std::uint64_t>(text.n, kRun));
}

}  // namespace

void launch_count_bins(const SuffixText& text, std::uint64_t* bins, Stream& stream) {
  const std::size_t most = static_cast<std::size_t>(stream.n_multiprocessors()) * 8;
  const std::size_t wanted = blocks_for_runs(text);
  stream.launch(count_bins_kernel, wanted < most ? wanted : most, kBlock, text,
                reinterpret_cast<unsigned long long*>(bins));
}

void launch_count_run(const SuffixText& text, std::uint32_t first, std::uint32_t last,
                      std::uint32_t* counts, Stream& stream) {
  stream.launch(count_run_kernel, blocks_for_runs(text), kBlock, text, first, last - first, counts);
}

void launch_list_run(const SuffixText& text, std::uint32_t first, std::uint32_t last,
                     const std::uint32_t* sums, std::uint64_t* positions, std::uint64_t* keys,
                     std::uint32_t* values, Stream& stream) {
  stream.launch(list_run_kernel, blocks_for_runs(text), kBlock, text, first, last - first, sums,
                positions, keys, values);
}

void launch_block_heads(const SuffixText& text, const std::uint64_t* keys,
                        const std::uint32_t* rows, const std::uint64_t* positions, std::uint32_t n,
                        std::uint32_t* heads, Stream& stream) {
  stream.launch(block_heads_kernel, blocks_for(n), kBlock, text, keys, rows, positions, n, heads);
}

void launch_next_words(const SuffixText& text, const std::uint32_t* rows,
                       const std::uint64_t* positions, std::uint64_t depth, std::uint32_t n,
                       std::uint64_t* keys, std::uint32_t* values, Stream& stream) {
  stream.launch(next_words_kernel, blocks_for(n), kBlock, text, rows, positions, depth, n, keys,
                values);
}

void launch_group_keys(const std::uint32_t* group, const std::uint32_t* values, std::uint32_t n,
                       std::uint64_t* keys, Stream& stream) {
  stream.launch(group_keys_kernel, blocks_for(n), kBlock, group, values, n, keys);
}

void launch_order_rows(const std::uint32_t* from, const std::uint32_t* order,
                       const std::uint32_t* place, std::uint32_t n, std::uint32_t* to,
                       std::uint32_t* sorted, Stream& stream) {
  stream.launch(order_rows_kernel, blocks_for(n), kBlock, from, order, place, n, to, sorted);
}

void launch_word_heads(const SuffixText& text, const std::uint64_t* words,
                       const std::uint32_t* rows, const std::uint64_t* positions,
                       const TiedItems& active, std::uint64_t depth, std::uint32_t n,
                       std::uint32_t* heads, Stream& stream) {
  stream.launch(word_heads_kernel, blocks_for(n), kBlock, text, words, rows, positions, active,
                depth, n, heads);
}

void launch_positions(const std::uint64_t* positions, const std::uint32_t* rows, std::uint32_t n,
                      std::uint64_t* out, Stream& stream) {
  stream.launch(positions_kernel<std::uint64_t>, blocks_for(n), kBlock, positions, rows, n, out);
}
void launch_positions(const std::uint64_t* positions, const std::uint32_t* rows, std::uint32_t n,
                      std::uint32_t* out, Stream& stream) {
  stream.launch(positions_kernel<std::uint32_t>, blocks_for(n), kBlock, positions, rows, n, out);
}

}  // namespace biogpu::gpu::bwt
