// The counts of given k-mers in a sorted list, found through an index of the list.
//
// Shapes   places[n][W] u64, ascending; counts[n] u64; begins[2^b + 1] u32; keys[m][W] u64 and
//          counts[m] u64 of the look-ups; tables[ceil(2k / 8)][256] u64.
// Mapping  a thread takes a key; 256 threads a block.
// Traffic  a look-up reads 8 W bytes of its key, one sector of begins, one or two of places and,
//          where it is found, one of counts, and writes 8: about 120 bytes for W = 1. The tables
//          stay in the first-level cache. Bound by random reads.
// Result   exact.
// Source   own; the order is Jellyfish's, doi:10.1093/bioinformatics/btr011.
// Oracle   Lookup::find, lib/kmer/database/lookup.hpp.
#include "gpu/kmer/lookup.hpp"

#include "gpu/rt/kernel.hpp"

namespace biogpu::gpu::kmer {
namespace {

constexpr unsigned kBlock = 256;

template <int kWords>
struct Words {
  std::uint64_t word[kWords];  // the most significant first

  __device__ bool operator==(const Words& other) const {
    std::uint64_t difference = 0;
#pragma unroll
    for (int w = 0; w < kWords; ++w) difference |= word[w] ^ other.word[w];
    return difference == 0;
  }
  __device__ bool operator<(const Words& other) const {
#pragma unroll
    for (int w = 0; w + 1 < kWords; ++w)
      if (word[w] != other.word[w]) return word[w] < other.word[w];
    return word[kWords - 1] < other.word[kWords - 1];
  }
};

template <int kWords>
__device__ Words<kWords> load(const std::uint64_t* from, std::uint64_t i) {
  Words<kWords> words;
#pragma unroll
  for (int w = 0; w < kWords; ++w) words.word[w] = from[i * kWords + w];
  return words;
}

// KeyOrder::place: pos << (2k - r) | key >> r.
template <int kWords>
__device__ Words<kWords> place_of(const Words<kWords>& key, const KeyRule& rule) {
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
  Words<kWords> place;
#pragma unroll
  for (int w = 0; w < kWords; ++w) {
    place.word[w] = key.word[w] >> r;
    if (w > 0) place.word[w] |= key.word[w - 1] << (64 - r);
    const int low = 64 * (kWords - 1 - w);  // the bit that bit 0 of this word is
    if (up >= low && up < low + 64) place.word[w] |= pos << (up - low);
    if (up < low && up > low - 64) place.word[w] |= pos >> (low - up);
  }
  return place;
}

// The highest index_bits bits of 2k.
template <int kWords>
__device__ std::uint32_t bucket_of(const Words<kWords>& place, int k, int index_bits) {
  const int down = 2 * k - index_bits;
  std::uint64_t bits = 0;
#pragma unroll
  for (int w = 0; w < kWords; ++w) {
    const int at = 64 * (kWords - 1 - w) - down;  // where this word's bit 0 goes
    if (at >= 0 && at < 64) bits |= place.word[w] << at;
    if (at < 0 && at > -64) bits |= place.word[w] >> -at;
  }
  return static_cast<std::uint32_t>(bits);
}

template <int kWords>
__global__ __launch_bounds__(kBlock) void place_keys_kernel(PlaceKeysArgs a) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * kBlock + threadIdx.x;
  if (i >= a.n) return;
  const Words<kWords> place = place_of(load<kWords>(a.keys, i), a.rule);
#pragma unroll
  for (int w = 0; w < kWords; ++w) a.places[i * kWords + w] = place.word[w];
}

// Thread i writes the begins of the buckets after that of place i - 1 up to that of place i; the
// last one those that are left.
template <int kWords>
__global__ __launch_bounds__(kBlock) void index_places_kernel(PlaceTable t) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * kBlock + threadIdx.x;
  if (i > t.n) return;
  const auto bucket = [&](std::uint64_t at) {
    return std::uint64_t{bucket_of(load<kWords>(t.places, at), t.rule.k, t.index_bits)};
  };
  const std::uint64_t first = i == 0 ? 0 : bucket(i - 1) + 1;
  const std::uint64_t end = i == t.n ? (std::uint64_t{1} << t.index_bits) + 1 : bucket(i) + 1;
  for (std::uint64_t b = first; b < end; ++b) t.begins[b] = static_cast<std::uint32_t>(i);
}

template <int kWords>
__global__ __launch_bounds__(kBlock) void find_keys_kernel(FindKeysArgs a) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * kBlock + threadIdx.x;
  if (i >= a.n) return;
  const PlaceTable& t = a.table;
  const Words<kWords> wanted = place_of(load<kWords>(a.keys, i), t.rule);
  const std::uint32_t bucket = bucket_of(wanted, t.rule.k, t.index_bits);
  std::uint32_t low = t.begins[bucket];
  const std::uint32_t end = t.begins[bucket + 1];
  std::uint32_t high = end;
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (load<kWords>(t.places, middle) < wanted)
      low = middle + 1;
    else
      high = middle;
  }
  const bool found = low < end && load<kWords>(t.places, low) == wanted;
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

void launch_place_keys(const PlaceKeysArgs& args, Stream& stream) {
  if (args.n == 0) return;
  for_width(args.rule.n_words, [&]<int kWords>() {
    stream.launch(place_keys_kernel<kWords>, ceil_div<std::size_t>(args.n, kBlock), kBlock, args);
  });
}

void launch_index_places(const PlaceTable& table, Stream& stream) {
  for_width(table.rule.n_words, [&]<int kWords>() {
    stream.launch(index_places_kernel<kWords>, ceil_div<std::size_t>(table.n + 1, kBlock), kBlock,
                  table);
  });
}

void launch_find_keys(const FindKeysArgs& args, Stream& stream) {
  if (args.n == 0) return;
  for_width(args.table.rule.n_words, [&]<int kWords>() {
    stream.launch(find_keys_kernel<kWords>, ceil_div<std::size_t>(args.n, kBlock), kBlock, args);
  });
}

}  // namespace biogpu::gpu::kmer
