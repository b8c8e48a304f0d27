// The place of every k-mer of a text in the order of a database, for k up to 32.
//
// Shapes   bases[n/16 + 4] u32 and invalid[n/32 + 2] u32 as pack_letters writes them;
//          tables[n_tables][256] u64; places[capacity] u64, in any order.
// Mapping  a thread takes 16 windows that begin in one word of bases; 256 threads a block, which
//          reserves room for its windows by one atomic and writes them side by side.
// Traffic  0.5 bytes read a window and 8 written a window in the range; the tables lie in shared
//          memory, one 8-byte word of each a window. Memory bound when all windows are written,
//          else bound by shared memory.
// Result   the set of places is exact; their order is not fixed, and they are sorted next.
// Source   minimal perfect order: Jellyfish's hash, doi:10.1093/bioinformatics/btr011.
// Oracle   KeyOrder::place, lib/kmer/order/key_order.hpp.
#include "gpu/kmer/places.hpp"

#include "gpu/kmer/packed_bases.hpp"
#include "gpu/rt/kernel.hpp"

namespace biogpu::gpu::kmer {
namespace {

constexpr unsigned kBlock = 256;
constexpr unsigned kWindows = 16;  // of a thread
constexpr int kMaxTables = 8;

// 64 bases from a word boundary, left-aligned in two words.
struct Stretch {
  std::uint64_t high;
  std::uint64_t low;
};

class Placer {
 public:
  __device__ Placer(const PlaceRule& rule, const std::uint64_t* tables)
      : rule_(rule), tables_(tables), mask_(rule.k == 32 ? ~0ull : (1ull << 2 * rule.k) - 1) {}

  // The place of the window that begins i bases into the stretch.
  __device__ std::uint64_t place(const Stretch& bases, unsigned i) const {
    const std::uint64_t from_i =
        i == 0 ? bases.high : bases.high << 2 * i | bases.low >> (64 - 2 * i);
    std::uint64_t key = from_i >> (64 - 2 * rule_.k);
    if (rule_.canonical) {
      const std::uint64_t reverse = reverse_pairs(~key) >> (64 - 2 * rule_.k);
      key = reverse < key ? reverse : key;
    }
    if (rule_.size_bits == 0) return key;
    std::uint64_t pos = 0;
    std::uint64_t rest = key;
    for (int t = 0; t < rule_.n_tables; ++t, rest >>= 8) pos ^= tables_[256 * t + (rest & 0xff)];
    // Shifts of 64 are not defined: size_bits is below 2k here.
    return (pos << (2 * rule_.k - rule_.size_bits) | key >> rule_.size_bits) & mask_;
  }

  __device__ std::uint32_t range(std::uint64_t place) const {
    const int down = 2 * rule_.k - kRangeBits;
    return static_cast<std::uint32_t>(down > 0 ? place >> down : place);
  }

 private:
  const PlaceRule rule_;
  const std::uint64_t* tables_;
  const std::uint64_t mask_;
};

// Bit i: the k bases from base 16 word + i on are all valid and within the text.
__device__ __forceinline__ std::uint32_t valid_windows(const PlacesArgs& a, std::uint64_t word) {
  const std::uint64_t first = word * 16;
  if (first + static_cast<std::uint64_t>(a.rule.k) > a.n_bases) return 0;
  const std::uint32_t* from = a.invalid + word / 2;
  std::uint64_t bad = static_cast<std::uint64_t>(from[1]) << 32 | from[0];
  if (word % 2 != 0) bad = bad >> 16 | static_cast<std::uint64_t>(from[2]) << 48;
  // Bit i of `bad` becomes the or of bits i to i + k - 1, by doubling.
  int covered = 1;
  for (; 2 * covered <= a.rule.k; covered *= 2) bad |= bad >> covered;
  if (covered < a.rule.k) bad |= bad >> (a.rule.k - covered);
  std::uint32_t valid = ~static_cast<std::uint32_t>(bad) & 0xffff;
  const std::uint64_t n_left = a.n_bases - first - static_cast<std::uint64_t>(a.rule.k) + 1;
  if (n_left < kWindows) valid &= (1u << n_left) - 1;
  return valid;
}

__device__ __forceinline__ Stretch load_stretch(const std::uint32_t* bases, std::uint64_t word) {
  const std::uint32_t* from = bases + word;
  return {static_cast<std::uint64_t>(from[0]) << 32 | from[1],
          static_cast<std::uint64_t>(from[2]) << 32 | from[3]};
}

__device__ void load_tables(const PlaceRule& rule, std::uint64_t* shared) {
  for (unsigned i = threadIdx.x; i < 256u * static_cast<unsigned>(rule.n_tables); i += kBlock)
    shared[i] = rule.tables[i];
}

__global__ __launch_bounds__(kBlock) void places_kernel(PlacesArgs a) {
  __shared__ std::uint64_t tables[kMaxTables * 256];
  __shared__ std::uint32_t n_block;
  __shared__ unsigned long long block_begin;
  load_tables(a.rule, tables);
  if (threadIdx.x == 0) n_block = 0;
  __syncthreads();

  const std::uint64_t word = std::uint64_t{blockIdx.x} * kBlock + threadIdx.x;
  const Placer placer(a.rule, tables);
  std::uint64_t mine[kWindows];
  std::uint32_t keep = valid_windows(a, word);
  if (keep != 0) {
    const Stretch bases = load_stretch(a.bases, word);
#pragma unroll
    for (unsigned i = 0; i < kWindows; ++i) {
      mine[i] = placer.place(bases, i);
      const std::uint32_t range = placer.range(mine[i]);
      if (range < a.first_range || range >= a.last_range) keep &= ~(1u << i);
    }
  }
  const auto n_mine = static_cast<std::uint32_t>(__popc(keep));
  const std::uint32_t before = n_mine == 0 ? 0 : atomicAdd(&n_block, n_mine);
  __syncthreads();
  if (threadIdx.x == 0)
    block_begin =
        n_block == 0 ? 0 : atomicAdd(a.n_places, static_cast<unsigned long long>(n_block));
  __syncthreads();
  std::uint64_t at = block_begin + before;
#pragma unroll
  for (unsigned i = 0; i < kWindows; ++i)
    if ((keep >> i & 1) != 0) {
      if (at < a.capacity) a.places[at] = mine[i];
      ++at;
    }
}

__global__ __launch_bounds__(kBlock) void range_histogram_kernel(PlacesArgs a,
                                                                 unsigned long long* histogram) {
  __shared__ std::uint64_t tables[kMaxTables * 256];
  __shared__ std::uint32_t n_in_range[kRanges];
  load_tables(a.rule, tables);
  for (unsigned i = threadIdx.x; i < kRanges; i += kBlock) n_in_range[i] = 0;
  __syncthreads();
  const Placer placer(a.rule, tables);
  const std::uint64_t n_words = (a.n_bases + 15) / 16;
  for (std::uint64_t word = std::uint64_t{blockIdx.x} * kBlock + threadIdx.x; word < n_words;
       word += std::uint64_t{gridDim.x} * kBlock) {
    const std::uint32_t keep = valid_windows(a, word);
    if (keep == 0) continue;
    const Stretch bases = load_stretch(a.bases, word);
    for (unsigned i = 0; i < kWindows; ++i)
      if ((keep >> i & 1) != 0) atomicAdd(&n_in_range[placer.range(placer.place(bases, i))], 1u);
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < kRanges; i += kBlock)
    if (n_in_range[i] != 0)
      atomicAdd(&histogram[i], static_cast<unsigned long long>(n_in_range[i]));
}

}  // namespace

void launch_places(const PlacesArgs& args, Stream& stream) {
  if (args.n_bases < static_cast<std::uint64_t>(args.rule.k)) return;
  const std::size_t n_words = (args.n_bases + 15) / 16;
  stream.launch(places_kernel, ceil_div<std::size_t>(n_words, kBlock), kBlock, args);
}

void launch_range_histogram(const PlacesArgs& args, unsigned long long* histogram, Stream& stream) {
  if (args.n_bases < static_cast<std::uint64_t>(args.rule.k)) return;
  const std::size_t n_blocks =
      ceil_div<std::size_t>(ceil_div<std::size_t>(args.n_bases, 16), kBlock);
  const auto n_resident = static_cast<std::size_t>(stream.n_multiprocessors()) * 4;
  stream.launch(range_histogram_kernel, n_blocks < n_resident ? n_blocks : n_resident, kBlock, args,
                histogram);
}

}  // namespace biogpu::gpu::kmer
