// The steps of a suffix sort by jumps: runs and where they end, samples, keys.
//
// Shapes   those of gpu/bwt/jump_sort.hpp; all counts below 2^32.
// Mapping  one thread an element, 256 threads a block.
// Traffic  12 n bytes for the runs, 12 n for the samples, 16 and two gathered words for each tied
//          suffix or sample and step. A jump looks at W * 3 / 4 pieces of a word in registers, some
//          100 instructions: at 50 million suffixes a third of a millisecond.
// Result   integers, the same for every grid and wave width.
// Source   those of gpu/bwt/jump_sort.hpp
// Oracle   sort_suffixes_ref, lib/bwt/suffix/suffix_array_ref.cpp
#include "gpu/bwt/jump_sort.hpp"
#include "gpu/bwt/suffix_words.hpp"
#include "gpu/rt/kernel.hpp"

namespace biogpu::gpu::bwt {
namespace {

constexpr std::uint32_t kLongestPeriod = 8;

// A quarter of a word: two words of periods up to it that overlap in all but one symbol have one
// period.
__device__ __forceinline__ std::uint32_t piece_symbols(const SuffixText& text) {
  return text.word_symbols / 4;
}

// The shortest period of the symbols of a word, 0 where it is too long to count.
__device__ __forceinline__ std::uint32_t period_of(const SuffixText& text, std::uint64_t word) {
  const std::uint32_t most =
      piece_symbols(text) < kLongestPeriod ? piece_symbols(text) : kLongestPeriod;
  const auto bits = static_cast<std::uint32_t>(text.bits);
  for (std::uint32_t p = 1; p <= most; ++p) {
    const std::uint64_t differences = word ^ word << p * bits;
    if (differences >> (64 - (text.word_symbols - p) * bits) == 0) return p;
  }
  return 0;
}

// Of the pieces behind the first symbol the one with the least number, the first of equals.
__device__ __forceinline__ std::uint32_t least_piece(const SuffixText& text, std::uint64_t word) {
  const std::uint32_t piece = piece_symbols(text);
  const auto bits = static_cast<std::uint32_t>(text.bits);
  const unsigned shift = 64 - piece * bits;
  std::uint32_t least = ~0u;
  for (std::uint32_t at = 1; at + piece <= text.word_symbols; ++at) {
    const auto symbols = static_cast<std::uint32_t>(word << at * bits >> shift);
    const std::uint32_t number = (symbols * 0x9e3779b1u >> 12) << 6 | at;
    least = number < least ? number : least;
  }
  return least & 63;
}

__device__ __forceinline__ std::uint32_t run_end(const JumpText& text, std::uint32_t position) {
  const auto last = static_cast<std::uint32_t>(text.text.n) - 1;
  return last - text.next[last - position];
}

// Where the suffix's jump leads; it does not end within its first word.
__device__ __forceinline__ std::uint32_t jump_from(const JumpText& text, std::uint32_t position) {
  const std::uint64_t word = word_at(text.text, position);
  return period_of(text.text, word) != 0 ? run_end(text, position)
                                         : position + least_piece(text.text, word);
}

__device__ __forceinline__ std::uint64_t symbol_at(const SuffixText& text, std::uint64_t i) {
  return word_at(text, i) >> (64 - text.bits);
}

__global__ void plain_kernel(SuffixText text, std::uint32_t* plain) {
  const std::uint32_t i = thread_index();
  if (i >= text.n) return;
  const std::uint64_t position = text.n - 1 - i;
  const std::uint64_t word = word_at(text, position);
  plain[i] = ends_within(text, position, word) || period_of(text, word) == 0 ? i : 0;
}

__global__ void run_keys_kernel(JumpText text, const std::uint32_t* items,
                                const std::uint32_t* group, std::uint32_t n_tied, int n_bits,
                                std::uint64_t* keys, std::uint32_t* n_runs) {
  const std::uint32_t k = thread_index();
  if (k >= n_tied) return;
  const std::uint32_t position = items[k];
  const std::uint32_t period = period_of(text.text, word_at(text.text, position));
  std::uint64_t key = 0;
  if (period != 0) {
    // Two runs that begin alike and end differently lie apart: their lengths add up to n at most.
    const std::uint32_t next = run_end(text, position);
    const std::uint32_t length = next - position;
    const std::uint64_t end = static_cast<std::uint64_t>(next) + text.text.word_symbols - 1;
    const bool up =
        end < text.text.n && symbol_at(text.text, end) > symbol_at(text.text, end - period);
    key = up ? (std::uint64_t{1} << n_bits) - 1 - length : length;
    *n_runs = 1;
  }
  keys[k] = static_cast<std::uint64_t>(group[k]) << n_bits | key;
}

__global__ void mark_jumps_kernel(JumpText text, const std::uint32_t* items, std::uint32_t n_tied,
                                  std::uint32_t* marks) {
  const std::uint32_t k = thread_index();
  if (k < n_tied) marks[jump_from(text, items[k])] = 1;
}

__global__ void list_samples_kernel(std::uint32_t n, Samples samples, const std::uint32_t* rank,
                                    std::uint64_t* keys, std::uint32_t* items) {
  const std::uint32_t i = thread_index();
  if (i >= n) return;
  const std::uint32_t sample = i == 0 ? 0 : samples.sums[i - 1];
  if (samples.sums[i] == sample) return;
  samples.position[sample] = i;
  samples.jump[sample] = sample;
  samples.spare_jump[sample] = sample;
  keys[sample] = rank[i];
  items[sample] = sample;
}

__global__ void first_jumps_kernel(JumpText text, Samples samples, const std::uint32_t* items,
                                   std::uint32_t n_tied) {
  const std::uint32_t k = thread_index();
  if (k >= n_tied) return;
  const std::uint32_t sample = items[k];
  samples.jump[sample] = samples.sums[jump_from(text, samples.position[sample])] - 1;
}

__global__ void jump_keys_kernel(Samples samples, const std::uint32_t* items,
                                 const std::uint32_t* group, const std::uint32_t* sample_rank,
                                 std::uint32_t n_tied, int n_bits, std::uint64_t* keys) {
  const std::uint32_t k = thread_index();
  if (k >= n_tied) return;
  keys[k] = static_cast<std::uint64_t>(group[k]) << n_bits | sample_rank[samples.jump[items[k]]];
}

__global__ void double_jumps_kernel(Samples samples, const std::uint32_t* items,
                                    std::uint32_t n_tied) {
  const std::uint32_t k = thread_index();
  if (k >= n_tied) return;
  const std::uint32_t sample = items[k];
  samples.spare_jump[sample] = samples.jump[samples.jump[sample]];
}

__global__ void last_keys_kernel(JumpText text, Samples samples, const std::uint32_t* items,
                                 const std::uint32_t* group, const std::uint32_t* sample_rank,
                                 std::uint32_t n_tied, int n_bits, std::uint64_t* keys) {
  const std::uint32_t k = thread_index();
  if (k >= n_tied) return;
  const std::uint32_t sample = samples.sums[jump_from(text, items[k])] - 1;
  keys[k] = static_cast<std::uint64_t>(group[k]) << n_bits | sample_rank[sample];
}

std::size_t blocks_for(std::uint64_t n) { return ceil_div<std::size_t>(n, kBlock); }

}  // namespace

void launch_plain(const SuffixText& text, std::uint32_t* plain, Stream& stream) {
  stream.launch(plain_kernel, blocks_for(text.n), kBlock, text, plain);
}

void launch_run_keys(const JumpText& text, const std::uint32_t* items, const std::uint32_t* group,
                     std::uint32_t n_tied, int n_bits, std::uint64_t* keys, std::uint32_t* n_runs,
                     Stream& stream) {
  stream.launch(run_keys_kernel, blocks_for(n_tied), kBlock, text, items, group, n_tied, n_bits,
                keys, n_runs);
}

void launch_mark_jumps(const JumpText& text, const std::uint32_t* items, std::uint32_t n_tied,
                       std::uint32_t* marks, Stream& stream) {
  stream.launch(mark_jumps_kernel, blocks_for(n_tied), kBlock, text, items, n_tied, marks);
}

void launch_list_samples(std::uint64_t n, const Samples& samples, const std::uint32_t* rank,
                         std::uint64_t* keys, std::uint32_t* items, Stream& stream) {
  stream.launch(list_samples_kernel, blocks_for(n), kBlock, static_cast<std::uint32_t>(n), samples,
                rank, keys, items);
}

void launch_first_jumps(const JumpText& text, const Samples& samples, const std::uint32_t* items,
                        std::uint32_t n_tied, Stream& stream) {
  stream.launch(first_jumps_kernel, blocks_for(n_tied), kBlock, text, samples, items, n_tied);
}

void launch_jump_keys(const Samples& samples, const std::uint32_t* items,
                      const std::uint32_t* group, const std::uint32_t* sample_rank,
                      std::uint32_t n_tied, int n_bits, std::uint64_t* keys, Stream& stream) {
  stream.launch(jump_keys_kernel, blocks_for(n_tied), kBlock, samples, items, group, sample_rank,
                n_tied, n_bits, keys);
}

void launch_double_jumps(const Samples& samples, const std::uint32_t* items, std::uint32_t n_tied,
                         Stream& stream) {
  stream.launch(double_jumps_kernel, blocks_for(n_tied), kBlock, samples, items, n_tied);
}

void launch_last_keys(const JumpText& text, const Samples& samples, const std::uint32_t* items,
                      const std::uint32_t* group, const std::uint32_t* sample_rank,
                      std::uint32_t n_tied, int n_bits, std::uint64_t* keys, Stream& stream) {
  stream.launch(last_keys_kernel, blocks_for(n_tied), kBlock, text, samples, items, group,
                sample_rank, n_tied, n_bits, keys);
}

}  // namespace biogpu::gpu::bwt
