// Fingerprints of the k-mers of a text, and which neighbours in their order are one k-mer. For k of
// any length: a k-mer is named by where it begins.
//
// Shapes   chunks of bases[n/16 + 4] u32 and invalid[n/32 + 2] u32 as a TextChunk has them;
//          fingerprints[n] u64, positions[n] u32; begins[n/16] u16; keys[runs][n_words] u64.
// Mapping  windows: a thread takes 16 windows that begin in one word of bases, 256 threads a block,
//          which reserves room by one atomic. Marks: a thread takes 16 neighbouring entries. Keys:
//          a thread takes a run.
// Traffic  windows: 0.5 bytes read, 12 written a window, and about k/4 cached reads. Marks: 12
//          bytes read an entry, and where fingerprints are equal k/4 bytes twice, anywhere.
// Result   marks and keys are exact: fingerprints only bring equal k-mers together. Two k-mers of
//          one fingerprint, which hash 64 bits, may lie mixed and then make more runs than k-mers.
// Limits   positions of 32 bits.
// Source   own; the mixing function is that of SplitMix64, doi:10.1145/2714064.2660195.
// Oracle   CpuCounter, lib/kmer/count/cpu_counter.hpp, through the counts.
#include "gpu/kmer/count/fingerprints.hpp"

#include "gpu/kmer/text/packed_bases.hpp"
#include "gpu/rt/kernel.hpp"

namespace biogpu::gpu::kmer {
namespace {

constexpr unsigned kBlock = 256;
constexpr unsigned kWindows = 16;  // of a thread

__device__ __forceinline__ std::uint64_t mix(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ x >> 27) * 0x94d049bb133111ebull;
  return x ^ x >> 31;
}

__device__ __forceinline__ PackedKmer kmer_at(const WindowText& text, std::uint32_t position) {
  const WindowChunk& chunk = text.chunks[position >> text.chunk_bits];
  return {chunk.bases, position & ((1u << text.chunk_bits) - 1), text.k};
}

// The same for a k-mer and, where both strands count as one, its reverse complement.
__device__ std::uint64_t fingerprint(const PackedKmer& kmer, bool canonical) {
  std::uint64_t forward = 0;
  std::uint64_t reverse = 0;
  for (int e = 0; e < kmer.n_words(); ++e) {
    forward = mix(forward + kmer.forward(e) + 0x9e3779b97f4a7c15ull);
    if (canonical) reverse = mix(reverse + kmer.reverse(e) + 0x9e3779b97f4a7c15ull);
  }
  return canonical ? mix(forward + reverse) : forward;
}

__device__ bool same_kmer(const PackedKmer& a, const PackedKmer& b, bool canonical) {
  bool same = true;
  for (int e = 0; same && e < a.n_words(); ++e) same = a.forward(e) == b.forward(e);
  if (same || !canonical) return same;
  same = true;
  for (int e = 0; same && e < a.n_words(); ++e) same = a.forward(e) == b.reverse(e);
  return same;
}

// Bit i: the k bases from base 16 word + i on are all valid and within the text.
__device__ std::uint32_t valid_windows(const std::uint32_t* invalid, std::uint64_t n_bases, int k,
                                       std::uint64_t word) {
  const std::uint64_t first = word * kWindows;
  if (first + static_cast<std::uint64_t>(k) > n_bases) return 0;
  // The first letter from the last window's begin on that is no base.
  const std::uint64_t last = first + kWindows - 1;
  const std::uint64_t end = last + static_cast<std::uint64_t>(k);
  std::uint64_t stop = end < n_bases ? end : n_bases;
  for (std::uint64_t at = last; at < stop; at = (at / 32 + 1) * 32) {
    const std::uint32_t bits = invalid[at / 32] >> at % 32;
    if (bits == 0) continue;
    const std::uint64_t found = at + static_cast<std::uint64_t>(__ffs(static_cast<int>(bits)) - 1);
    stop = found < stop ? found : stop;
    break;
  }
  const std::uint32_t own = invalid[first / 32] >> first % 32 & 0xffff;
  std::uint32_t valid = 0;
  for (int i = kWindows - 1; i >= 0; --i) {
    const std::uint64_t begin = first + static_cast<unsigned>(i);
    if ((own >> i & 1) != 0 && begin < stop) stop = begin;
    if (begin + static_cast<std::uint64_t>(k) <= stop) valid |= 1u << i;
  }
  return valid;
}

__device__ __forceinline__ std::uint32_t range_of(std::uint64_t fingerprint) {
  return static_cast<std::uint32_t>(fingerprint >> (64 - kRangeBits));
}

__global__ __launch_bounds__(kBlock) void windows_kernel(FingerprintsArgs a) {
  __shared__ std::uint32_t n_block;
  __shared__ unsigned long long block_begin;
  if (threadIdx.x == 0) n_block = 0;
  __syncthreads();

  const WindowChunk chunk = a.text.chunks[a.chunk];
  const std::uint64_t word = std::uint64_t{blockIdx.x} * kBlock + threadIdx.x;
  std::uint32_t keep = valid_windows(chunk.invalid, a.n_bases, a.text.k, word);
  const auto fingerprint_of = [&](unsigned i) {
    return fingerprint({chunk.bases, word * kWindows + i, a.text.k}, a.text.canonical);
  };
  // Made twice where there are ranges: 16 kept fingerprints would not fit into registers.
  if (a.first_range != 0 || a.last_range != kRanges)
    for (unsigned i = 0; i < kWindows; ++i) {
      if ((keep >> i & 1) == 0) continue;
      const std::uint32_t range = range_of(fingerprint_of(i));
      if (range < a.first_range || range >= a.last_range) keep &= ~(1u << i);
    }
  const auto n_mine = static_cast<std::uint32_t>(__popc(keep));
  const std::uint32_t before = n_mine == 0 ? 0 : atomicAdd(&n_block, n_mine);
  __syncthreads();
  if (threadIdx.x == 0)
    block_begin =
        n_block == 0 ? 0 : atomicAdd(a.n_windows, static_cast<unsigned long long>(n_block));
  __syncthreads();
  std::uint64_t at = block_begin + before;
  const std::uint32_t first = a.chunk << a.text.chunk_bits;
  for (unsigned i = 0; i < kWindows; ++i)
    if ((keep >> i & 1) != 0) {
      if (at < a.capacity) {
        a.fingerprints[at] = fingerprint_of(i);
        a.positions[at] = first + static_cast<std::uint32_t>(word * kWindows) + i;
      }
      ++at;
    }
}

__global__ __launch_bounds__(kBlock) void window_histogram_kernel(FingerprintsArgs a,
                                                                  unsigned long long* histogram) {
  __shared__ std::uint32_t n_in_range[kRanges];
  for (unsigned i = threadIdx.x; i < kRanges; i += kBlock) n_in_range[i] = 0;
  __syncthreads();
  const WindowChunk chunk = a.text.chunks[a.chunk];
  const std::uint64_t n_words = (a.n_bases + kWindows - 1) / kWindows;
  for (std::uint64_t word = std::uint64_t{blockIdx.x} * kBlock + threadIdx.x; word < n_words;
       word += std::uint64_t{gridDim.x} * kBlock) {
    const std::uint32_t keep = valid_windows(chunk.invalid, a.n_bases, a.text.k, word);
    for (unsigned i = 0; i < kWindows; ++i) {
      if ((keep >> i & 1) == 0) continue;
      const PackedKmer kmer(chunk.bases, word * kWindows + i, a.text.k);
      atomicAdd(&n_in_range[range_of(fingerprint(kmer, a.text.canonical))], 1u);
    }
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < kRanges; i += kBlock)
    if (n_in_range[i] != 0)
      atomicAdd(&histogram[i], static_cast<unsigned long long>(n_in_range[i]));
}

__global__ __launch_bounds__(kBlock) void mark_runs_kernel(WindowRunsArgs a) {
  const std::uint64_t word = std::uint64_t{blockIdx.x} * kBlock + threadIdx.x;
  const std::uint64_t first = word * 16;
  if (first >= a.n) return;
  std::uint32_t begins = first == 0 ? 1 : 0;
  for (unsigned i = first == 0 ? 1 : 0; i < 16 && first + i < a.n; ++i) {
    const std::uint64_t at = first + i;
    const bool same = a.fingerprints[at] == a.fingerprints[at - 1] &&
                      same_kmer(kmer_at(a.text, a.positions[at]),
                                kmer_at(a.text, a.positions[at - 1]), a.text.canonical);
    begins |= (same ? 0u : 1u) << i;
  }
  a.begins[word] = static_cast<std::uint16_t>(begins);
}

__global__ __launch_bounds__(kBlock) void window_keys_kernel(WindowKeysArgs a) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * kBlock + threadIdx.x;
  if (i >= a.n) return;
  const PackedKmer kmer = kmer_at(a.text, a.positions[a.run_begin[i]]);
  const bool reversed = a.text.canonical && kmer.is_reversed();
  std::uint64_t* const key = a.keys + i * static_cast<std::uint64_t>(a.n_words);
  for (int e = 0; e < a.n_words; ++e) {
    std::uint64_t word = 0;
    if (e < kmer.n_words()) word = reversed ? kmer.reverse(e) : kmer.forward(e);
    key[a.n_words - 1 - e] = word;
  }
}

std::size_t n_word_blocks(const FingerprintsArgs& args) {
  return ceil_div<std::size_t>(ceil_div<std::size_t>(args.n_bases, kWindows), kBlock);
}

}  // namespace

void launch_fingerprints(const FingerprintsArgs& args, Stream& stream) {
  if (args.n_bases < static_cast<std::uint64_t>(args.text.k)) return;
  stream.launch(windows_kernel, n_word_blocks(args), kBlock, args);
}

void launch_window_histogram(const FingerprintsArgs& args, unsigned long long* histogram,
                             Stream& stream) {
  if (args.n_bases < static_cast<std::uint64_t>(args.text.k)) return;
  const std::size_t n_blocks = n_word_blocks(args);
  const auto n_resident = static_cast<std::size_t>(stream.n_multiprocessors()) * 4;
  stream.launch(window_histogram_kernel, n_blocks < n_resident ? n_blocks : n_resident, kBlock,
                args, histogram);
}

void launch_mark_runs(const WindowRunsArgs& args, Stream& stream) {
  if (args.n == 0) return;
  stream.launch(mark_runs_kernel, ceil_div<std::size_t>(ceil_div<std::size_t>(args.n, 16), kBlock),
                kBlock, args);
}

void launch_window_keys(const WindowKeysArgs& args, Stream& stream) {
  if (args.n == 0) return;
  stream.launch(window_keys_kernel, ceil_div<std::size_t>(args.n, kBlock), kBlock, args);
}

}  // namespace biogpu::gpu::kmer
