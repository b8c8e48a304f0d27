// The counts of given k-mers in a sorted list, found through an index of the list.
//
// Shapes   sort_keys[n][W] u64, ascending; counts[n] u64; begins[2^b + 1] u32; keys[m][W] u64 and
//          counts[m] u64 of the look-ups; tables[ceil(2k / 8)][256] u64.
// Mapping  a thread takes a key; 256 threads a block.
// Traffic  a look-up reads 8 W bytes of its key, one sector of begins, one or two of sort keys and,
//          where it is found, one of counts, and writes 8: about 120 bytes for W = 1. The tables
//          stay in the first-level cache. Bound by random reads.
// Result   exact.
// Source   own; the order is Jellyfish's, doi:10.1093/bioinformatics/btr011.
// Oracle   Lookup::find, lib/kmer/database/lookup.hpp.
#include "gpu/kmer/lookup/lookup.hpp"

#include "gpu/rt/kernel.hpp"

namespace biogpu::gpu::kmer {
namespace {

constexpr unsigned kBlock = 256;

template <int kWords>
struct LookupKey {
  std::uint64_t word[kWords];  // the most significant first

  __device__ bool operator==(const LookupKey& other) const {
    std::uint64_t difference = 0;
#pragma unroll
    for (int w = 0; w < kWords; ++w) difference |= word[w] ^ other.word[w];
    return difference == 0;
  }
  __device__ bool operator<(const LookupKey& other) const {
#pragma unroll
    for (int w = 0; w + 1 < kWords; ++w)
      if (word[w] != other.word[w]) return word[w] < other.word[w];
    return word[kWords - 1] < other.word[kWords - 1];
  }
};

template <int kWords>
__device__ LookupKey<kWords> load(const std::uint64_t* from, std::uint64_t i) {
  LookupKey<kWords> words;
#pragma unroll
  for (int w = 0; w < kWords; ++w) words.word[w] = from[i * kWords + w];
  return words;
}

// KeyOrder::encode: pos << (2k - r) | key >> r.
template <int kWords>
__device__ LookupKey<kWords> encode(const LookupKey<kWords>& key, const KeyRule& rule) {
  if (rule.size_bits == 0) return key;
  const int r = rule.size_bits;
  std::uint64_t pos = 0;
  int table = 0;
#pragma unroll
  for (int w = kWords - 1; w >= 0; --w) {
    std::uint64_t rest = key.word[w];
    for (int byte = 0; byte < 8 && table < rule.n_tables; ++byte, ++table, rest >>= 8)
      pos ^= rule.tables[256 * table + static_cast<int>(rest & 0xff)];
  }
  const int up = 2 * rule.k - r;
  LookupKey<kWords> sort_key;
#pragma unroll
  for (int w = 0; w < kWords; ++w) {
    sort_key.word[w] = key.word[w] >> r;
    if (w > 0) sort_key.word[w] |= key.word[w - 1] << (64 - r);
    const int low = 64 * (kWords - 1 - w);  // the bit that bit 0 of this word is
    if (up >= low && up < low + 64) sort_key.word[w] |= pos << (up - low);
    if (up < low && up > low - 64) sort_key.word[w] |= pos >> (low - up);
  }
  return sort_key;
}

// The highest index_bits bits of 2k.
template <int kWords>
__device__ std::uint32_t bucket_of(const LookupKey<kWords>& sort_key, int k, int index_bits) {
  const int down = 2 * k - index_bits;
  std::uint64_t bits = 0;
#pragma unroll
  for (int w = 0; w < kWords; ++w) {
    const int at = 64 * (kWords - 1 - w) - down;  // where this word's bit 0 goes
    if (at >= 0 && at < 64) bits |= sort_key.word[w] << at;
    if (at < 0 && at > -64) bits |= sort_key.word[w] >> -at;
  }
  return static_cast<std::uint32_t>(bits);
}

template <int kWords>
__global__ __launch_bounds__(kBlock) void encode_keys_kernel(EncodeKeysArgs a) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * kBlock + threadIdx.x;
  if (i >= a.n) return;
  const LookupKey<kWords> sort_key = encode(load<kWords>(a.keys, i), a.rule);
#pragma unroll
  for (int w = 0; w < kWords; ++w) a.sort_keys[i * kWords + w] = sort_key.word[w];
}

// Thread i writes the begins of the buckets after that of sort key i - 1 up to that of sort key i;
// the last one those that are left.
template <int kWords>
__global__ __launch_bounds__(kBlock) void index_sort_keys_kernel(SortKeyTable t) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * kBlock + threadIdx.x;
  if (i > t.n) return;
  const auto bucket = [&](std::uint64_t at) {
    return std::uint64_t{bucket_of(load<kWords>(t.sort_keys, at), t.rule.k, t.index_bits)};
  };
  const std::uint64_t first = i == 0 ? 0 : bucket(i - 1) + 1;
  const std::uint64_t end = i == t.n ? (std::uint64_t{1} << t.index_bits) + 1 : bucket(i) + 1;
  for (std::uint64_t b = first; b < end; ++b) t.begins[b] = static_cast<std::uint32_t>(i);
}

template <int kWords>
__global__ __launch_bounds__(kBlock) void find_keys_kernel(FindKeysArgs a) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * kBlock + threadIdx.x;
  if (i >= a.n) return;
  const SortKeyTable& t = a.table;
  const LookupKey<kWords> wanted = encode(load<kWords>(a.keys, i), t.rule);
  const std::uint32_t bucket = bucket_of(wanted, t.rule.k, t.index_bits);
  std::uint32_t low = t.begins[bucket];
  const std::uint32_t end = t.begins[bucket + 1];
  std::uint32_t high = end;
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (load<kWords>(t.sort_keys, middle) < wanted)
      low = middle + 1;
    else
      high = middle;
  }
  const bool found = low < end && load<kWords>(t.sort_keys, low) == wanted;
  a.counts[i] = found ? t.counts[low] : 0;
}

// launch(kernel of the width): calls with<kWords>() for the number of words.
template <class Launch>
void for_width(int n_words, Launch&& launch) {
  switch (n_words) {
    case 1:
      return launch.template operator()<1>();
    case 2:
      return launch.template operator()<2>();
    case 4:
      return launch.template operator()<4>();
    default:
      return launch.template operator()<8>();
  }
}

}  // namespace

void launch_encode_keys(const EncodeKeysArgs& args, Stream& stream) {
  if (args.n == 0) return;
  for_width(args.rule.n_words, [&]<int kWords>() {
    stream.launch(encode_keys_kernel<kWords>, ceil_div<std::size_t>(args.n, kBlock), kBlock, args);
  });
}

void launch_index_sort_keys(const SortKeyTable& table, Stream& stream) {
  for_width(table.rule.n_words, [&]<int kWords>() {
    stream.launch(index_sort_keys_kernel<kWords>, ceil_div<std::size_t>(table.n + 1, kBlock),
                  kBlock, table);
  });
}

void launch_find_keys(const FindKeysArgs& args, Stream& stream) {
  if (args.n == 0) return;
  for_width(args.table.rule.n_words, [&]<int kWords>() {
    stream.launch(find_keys_kernel<kWords>, ceil_div<std::size_t>(args.n, kBlock), kBlock, args);
  });
}

}  // namespace biogpu::gpu::kmer
