// The sort key of every k-mer of a text in the order of a database, for k up to 32.
//
// Shapes   bases[n/16 + 4] u32 and invalid[n/32 + 2] u32 as a TextChunk has them;
//          tables[n_tables][256] u64; sort_keys[capacity] u64, in any order.
// Mapping  a thread takes 16 windows that begin in one word of bases; 256 threads a block, as many
//          blocks as the device holds at a time. A block reserves room for the windows of 256 words
//          by one atomic and writes them side by side through shared memory.
// Traffic  0.5 bytes read a window and 8 written a window in the range; the tables lie in shared
//          memory, one entry of each a window. Bound by shared memory and arithmetic; what goes to
//          other devices, by the link between them.
// Result   the set of sort keys is exact; their order is not fixed, and they are sorted next.
// Source   minimal perfect order: Jellyfish's hash, doi:10.1093/bioinformatics/btr011.
// Oracle   KeyOrder::encode, lib/kmer/key/key_order.hpp.
#include "gpu/kmer/count/sort_keys.hpp"

#include "gpu/kmer/block_sum.hpp"
#include "gpu/kmer/count/key_encoder.hpp"
#include "gpu/rt/kernel.hpp"

namespace biogpu::gpu::kmer {
namespace {

constexpr unsigned kBlock = kEncodeBlock;

// Where a block puts its sort keys together; one of padding after each thread's keeps threads off
// each other's banks.
struct SortKeyStage {
  std::uint64_t value[kBlock * (kWindows + 1)];

  __device__ std::uint64_t& at(std::uint32_t i) { return value[i + i / kWindows]; }
};

// Appends a block's sort keys, of each thread those of `keep`, to a list that others append to.
// Ends with a barrier.
template <int kWave>
__device__ __forceinline__ void append_sort_keys(const std::uint64_t (&mine)[kWindows],
                                                 std::uint32_t keep, std::uint64_t* sort_keys,
                                                 std::uint64_t capacity,
                                                 unsigned long long* n_sort_keys,
                                                 SortKeyStage& stage, std::uint32_t* wave_sums,
                                                 unsigned long long& block_begin) {
  std::uint32_t n_block = 0;
  std::uint32_t to = block_sum_before<kWave, kBlock>(static_cast<std::uint32_t>(__popc(keep)),
                                                     wave_sums, &n_block);
  if (threadIdx.x == 0 && n_block != 0)
    block_begin = atomicAdd(n_sort_keys, static_cast<unsigned long long>(n_block));
#pragma unroll
  for (unsigned i = 0; i < kWindows; ++i)
    if ((keep >> i & 1) != 0) stage.at(to++) = mine[i];
  __syncthreads();
  for (std::uint32_t i = threadIdx.x; i < n_block; i += kBlock)
    if (block_begin + i < capacity) sort_keys[block_begin + i] = stage.at(i);
  __syncthreads();
}

template <int kWave, class Entry>
__global__ __launch_bounds__(kBlock) void sort_keys_kernel(SortKeysArgs a) {
  BIOGPU_DYNAMIC_SHARED(Entry, tables);
  __shared__ SortKeyStage stage;
  __shared__ std::uint32_t wave_sums[kBlock / kWave];
  __shared__ unsigned long long block_begin;
  load_tables(a.rule, tables);
  __syncthreads();
  const KeyEncoder<Entry> encoder(a.rule, tables);
  const std::uint64_t n_words = (a.n_bases + 15) / 16;
  for (std::uint64_t first = std::uint64_t{blockIdx.x} * kBlock; first < n_words;
       first += std::uint64_t{gridDim.x} * kBlock) {
    const std::uint64_t word = first + threadIdx.x;
    std::uint64_t mine[kWindows];
    const std::uint32_t valid = encode_word(a, encoder, word, mine);
    const std::uint32_t keep = in_ranges(encoder, mine, valid, a.first_range, a.last_range);
    append_sort_keys<kWave>(mine, keep, a.sort_keys, a.capacity, a.n_sort_keys, stage, wave_sums,
                            block_begin);
  }
}

template <int kWave, class Entry>
__global__ __launch_bounds__(kBlock) void sort_keys_to_parts_kernel(SortKeysToPartsArgs a) {
  BIOGPU_DYNAMIC_SHARED(Entry, tables);
  __shared__ SortKeyStage stage;
  __shared__ std::uint32_t wave_sums[kBlock / kWave];
  __shared__ unsigned long long block_begin;
  load_tables(a.text.rule, tables);
  __syncthreads();
  const KeyEncoder<Entry> encoder(a.text.rule, tables);
  const std::uint64_t n_words = (a.text.n_bases + 15) / 16;
  for (std::uint64_t first = std::uint64_t{blockIdx.x} * kBlock; first < n_words;
       first += std::uint64_t{gridDim.x} * kBlock) {
    std::uint64_t mine[kWindows];
    const std::uint32_t valid = encode_word(a.text, encoder, first + threadIdx.x, mine);
    for (unsigned part = 0; part < a.n_parts; ++part) {
      const std::uint32_t keep =
          in_ranges(encoder, mine, valid, a.first_range[part], a.first_range[part + 1]);
      append_sort_keys<kWave>(mine, keep, a.sort_keys[part], a.capacity, a.n_sort_keys + part,
                              stage, wave_sums, block_begin);
    }
  }
}

template <class Entry>
__global__ __launch_bounds__(kBlock) void range_histogram_kernel(SortKeysArgs a,
                                                                 unsigned long long* histogram) {
  __shared__ Entry tables[kMaxTables * 256];
  __shared__ std::uint32_t n_in_range[kRanges];
  load_tables(a.rule, tables);
  for (unsigned i = threadIdx.x; i < kRanges; i += kBlock) n_in_range[i] = 0;
  __syncthreads();
  const KeyEncoder<Entry> encoder(a.rule, tables);
  const std::uint64_t n_words = (a.n_bases + 15) / 16;
  for (std::uint64_t word = std::uint64_t{blockIdx.x} * kBlock + threadIdx.x; word < n_words;
       word += std::uint64_t{gridDim.x} * kBlock) {
    const std::uint32_t keep = valid_windows(a, word);
    if (keep == 0) continue;
    const BaseWindow64 bases(a.bases, word);
    for (unsigned i = 0; i < kWindows; ++i)
      if ((keep >> i & 1) != 0) atomicAdd(&n_in_range[encoder.range(encoder.encode(bases, i))], 1u);
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < kRanges; i += kBlock)
    if (n_in_range[i] != 0)
      atomicAdd(&histogram[i], static_cast<unsigned long long>(n_in_range[i]));
}

// Blocks of so many a multiprocessor for the words of a text, or fewer.
std::size_t n_blocks_for(const SortKeysArgs& args, unsigned on_each, const Stream& stream) {
  const std::size_t n = ceil_div<std::size_t>(ceil_div<std::size_t>(args.n_bases, 16), kBlock);
  const auto n_resident = static_cast<std::size_t>(stream.n_multiprocessors()) * on_each;
  return n < n_resident ? n : n_resident;
}

template <int kWave, class Entry>
void launch_sort_keys_as(const SortKeysArgs& args, Stream& stream) {
  const std::size_t table_bytes =
      static_cast<std::size_t>(args.rule.n_tables) * 256 * sizeof(Entry);
  stream.launch_shared(sort_keys_kernel<kWave, Entry>, n_blocks_for(args, 4, stream), kBlock,
                       table_bytes, args);
}

template <int kWave, class Entry>
void launch_to_parts_as(const SortKeysToPartsArgs& args, Stream& stream) {
  const std::size_t table_bytes =
      static_cast<std::size_t>(args.text.rule.n_tables) * 256 * sizeof(Entry);
  stream.launch_shared(sort_keys_to_parts_kernel<kWave, Entry>, n_blocks_for(args.text, 4, stream),
                       kBlock, table_bytes, args);
}

// A table of 32 bits is read in half the time of one of 64.
bool fits_32(const SortKeysArgs& args) { return args.rule.size_bits <= 32; }

}  // namespace

void launch_sort_keys(const SortKeysArgs& args, Stream& stream) {
  if (args.n_bases < static_cast<std::uint64_t>(args.rule.k)) return;
  const bool wide = stream.wave_width() == 64;
  if (fits_32(args))
    wide ? launch_sort_keys_as<64, std::uint32_t>(args, stream)
         : launch_sort_keys_as<32, std::uint32_t>(args, stream);
  else
    wide ? launch_sort_keys_as<64, std::uint64_t>(args, stream)
         : launch_sort_keys_as<32, std::uint64_t>(args, stream);
}

void launch_sort_keys_to_parts(const SortKeysToPartsArgs& args, Stream& stream) {
  if (args.text.n_bases < static_cast<std::uint64_t>(args.text.rule.k)) return;
  const bool wide = stream.wave_width() == 64;
  if (fits_32(args.text))
    wide ? launch_to_parts_as<64, std::uint32_t>(args, stream)
         : launch_to_parts_as<32, std::uint32_t>(args, stream);
  else
    wide ? launch_to_parts_as<64, std::uint64_t>(args, stream)
         : launch_to_parts_as<32, std::uint64_t>(args, stream);
}

void launch_range_histogram(const SortKeysArgs& args, unsigned long long* histogram,
                            Stream& stream) {
  if (args.n_bases < static_cast<std::uint64_t>(args.rule.k)) return;
  const auto kernel =
      fits_32(args) ? range_histogram_kernel<std::uint32_t> : range_histogram_kernel<std::uint64_t>;
  stream.launch(kernel, n_blocks_for(args, 4, stream), kBlock, args, histogram);
}

}  // namespace biogpu::gpu::kmer
