// The steps of a suffix sort by doubling: keys, group heads, ranks, compaction, and the transform.
//
// Shapes   those of gpu/bwt/prefix_doubling.hpp and group_sort.hpp; all counts below 2^32.
// Mapping  one thread an element, 256 threads a block; the transform has one thread for 16 symbols,
//          which are one word of its result.
// Traffic  keys 20 n bytes; heads 12; ranks 4 read and one scattered word each; a round 4 bytes and
//          one gathered word for each tied suffix; the transform 4 n bytes and n gathered words.
//          Memory bound throughout.
// Result   integers, the same for every grid and wave width.
// Source   doi:10.1137/0222058, doi:10.1016/j.tcs.2007.07.017
// Oracle   sort_suffixes_ref, lib/bwt/suffix/suffix_array_ref.cpp
#include "gpu/bwt/prefix_doubling.hpp"
#include "gpu/bwt/suffix_words.hpp"
#include "gpu/rt/kernel.hpp"

namespace biogpu::gpu::bwt {
namespace {

__global__ void first_keys_kernel(SuffixText text, std::uint64_t* keys, std::uint32_t* positions) {
  const std::uint32_t i = thread_index();
  if (i >= text.n) return;
  const auto position = static_cast<std::uint32_t>(listed(text, i));
  keys[i] = word_at(text, position);
  positions[i] = position;
}

__global__ void first_heads_kernel(SuffixText text, const std::uint64_t* keys,
                                   const std::uint32_t* positions, std::uint32_t* heads) {
  const std::uint32_t i = thread_index();
  if (i >= text.n) return;
  const bool head =
      i == 0 || keys[i] != keys[i - 1] || ends_within(text, positions[i - 1], keys[i - 1]);
  heads[i] = head ? i : 0;
}

__global__ void heads_kernel(const std::uint64_t* keys, const std::uint32_t* place, std::uint32_t n,
                             std::uint32_t* heads) {
  const std::uint32_t i = thread_index();
  if (i >= n) return;
  const bool head = i == 0 || keys[i] != keys[i - 1];
  heads[i] = !head ? 0 : place == nullptr ? i : place[i];
}

__global__ void store_ranks_kernel(const std::uint32_t* items, const std::uint32_t* place,
                                   const std::uint32_t* group, std::uint32_t n, std::uint32_t* rank,
                                   std::uint32_t* sa) {
  const std::uint32_t i = thread_index();
  if (i >= n) return;
  const std::uint32_t item = items[i];
  rank[item] = group[i] + 1;
  if (sa != nullptr) sa[place == nullptr ? i : place[i]] = item;
}

__global__ void store_order_kernel(const std::uint32_t* items, const std::uint32_t* place,
                                   std::uint32_t n, std::uint32_t* sa) {
  const std::uint32_t i = thread_index();
  if (i < n) sa[place[i]] = items[i];
}

__global__ void keep_kernel(const std::uint32_t* group, std::uint32_t n, std::uint32_t* keep) {
  const std::uint32_t i = thread_index();
  if (i >= n) return;
  const bool alone =
      (i == 0 || group[i - 1] != group[i]) && (i + 1 == n || group[i + 1] != group[i]);
  keep[i] = alone ? 0 : 1;
}

__global__ void compact_kernel(const std::uint32_t* items, TiedItems from, const std::uint32_t* sum,
                               std::uint32_t n, std::uint32_t* to_items, TiedItems to) {
  const std::uint32_t i = thread_index();
  if (i >= n) return;
  const std::uint32_t before = i == 0 ? 0 : sum[i - 1];
  if (sum[i] == before) return;
  to_items[before] = items[i];
  to.place[before] = from.place == nullptr ? i : from.place[i];
  to.group[before] = from.group[i];
}

__global__ void round_keys_kernel(const std::uint32_t* positions, const std::uint32_t* group,
                                  const std::uint32_t* rank, std::uint32_t n, std::uint32_t h,
                                  int n_bits, std::uint64_t* keys) {
  const std::uint32_t i = thread_index();
  if (i >= n) return;
  keys[i] = static_cast<std::uint64_t>(group[i]) << n_bits | rank[positions[i] + h];
}

__global__ void find_primary_kernel(const std::uint32_t* sa, std::uint32_t n,
                                    std::uint32_t* primary) {
  const std::uint32_t i = thread_index();
  if (i < n && sa[i] == 0) *primary = i + 1;
}

__global__ void transform_kernel(SuffixText text, const std::uint32_t* sa,
                                 const std::uint32_t* primary, std::uint32_t* bwt) {
  constexpr std::uint32_t kBases = 16;
  const std::uint32_t word = thread_index();
  const std::uint64_t begin = static_cast<std::uint64_t>(word) * kBases;
  if (begin >= text.n) return;
  const std::uint32_t sentinel = *primary;
  std::uint32_t bases = 0;
  for (std::uint32_t b = 0; b < kBases; ++b) {
    const std::uint64_t stored = begin + b;
    std::uint32_t base = 0;
    if (stored < text.n) {
      const std::uint64_t row = stored + (stored >= sentinel ? 1 : 0);
      const std::uint64_t last = (row == 0 ? text.n : sa[row - 1]) - 1;
      base = static_cast<std::uint32_t>(text.words[last >> 5] >> (62 - 2 * (last & 31))) & 3u;
    }
    bases = bases << 2 | base;
  }
  bwt[word] = bases;
}

}  // namespace

void launch_first_keys(const SuffixText& text, std::uint64_t* keys, std::uint32_t* positions,
                       Stream& stream) {
  stream.launch(first_keys_kernel, ceil_div<std::size_t>(text.n, kBlock), kBlock, text, keys,
                positions);
}

void launch_first_heads(const SuffixText& text, const std::uint64_t* keys,
                        const std::uint32_t* positions, std::uint32_t* heads, Stream& stream) {
  stream.launch(first_heads_kernel, ceil_div<std::size_t>(text.n, kBlock), kBlock, text, keys,
                positions, heads);
}

void launch_heads(const std::uint64_t* keys, const std::uint32_t* place, std::uint32_t n,
                  std::uint32_t* heads, Stream& stream) {
  stream.launch(heads_kernel, ceil_div<std::size_t>(n, kBlock), kBlock, keys, place, n, heads);
}

void launch_store_ranks(const std::uint32_t* items, const std::uint32_t* place,
                        const std::uint32_t* group, std::uint32_t n, std::uint32_t* rank,
                        std::uint32_t* sa, Stream& stream) {
  stream.launch(store_ranks_kernel, ceil_div<std::size_t>(n, kBlock), kBlock, items, place, group,
                n, rank, sa);
}

void launch_store_order(const std::uint32_t* items, const std::uint32_t* place, std::uint32_t n,
                        std::uint32_t* sa, Stream& stream) {
  stream.launch(store_order_kernel, ceil_div<std::size_t>(n, kBlock), kBlock, items, place, n, sa);
}

void launch_keep(const std::uint32_t* group, std::uint32_t n, std::uint32_t* keep, Stream& stream) {
  stream.launch(keep_kernel, ceil_div<std::size_t>(n, kBlock), kBlock, group, n, keep);
}

void launch_compact(const std::uint32_t* items, const TiedItems& from, const std::uint32_t* sum,
                    std::uint32_t n, std::uint32_t* to_items, const TiedItems& to, Stream& stream) {
  stream.launch(compact_kernel, ceil_div<std::size_t>(n, kBlock), kBlock, items, from, sum, n,
                to_items, to);
}

void launch_round_keys(const std::uint32_t* positions, const std::uint32_t* group,
                       const std::uint32_t* rank, std::uint32_t n, std::uint32_t h, int n_bits,
                       std::uint64_t* keys, Stream& stream) {
  stream.launch(round_keys_kernel, ceil_div<std::size_t>(n, kBlock), kBlock, positions, group, rank,
                n, h, n_bits, keys);
}

void launch_find_primary(const std::uint32_t* sa, std::uint32_t n, std::uint32_t* primary,
                         Stream& stream) {
  stream.launch(find_primary_kernel, ceil_div<std::size_t>(n, kBlock), kBlock, sa, n, primary);
}

void launch_transform(const SuffixText& text, const std::uint32_t* sa, const std::uint32_t* primary,
                      std::uint32_t* bwt, Stream& stream) {
  const std::size_t n_words = ceil_div<std::size_t>(text.n, 16);
  stream.launch(transform_kernel, ceil_div<std::size_t>(n_words, kBlock), kBlock, text, sa, primary,
                bwt);
}

}  // namespace biogpu::gpu::bwt
