#pragma once

#include <cstdint>

#include "gpu/bwt/group_sort.hpp"
#include "gpu/bwt/jump_sort.hpp"
#include "gpu/bwt/suffix_text.hpp"
#include "gpu/rt/buffer.hpp"
#include "gpu/rt/stream.hpp"

namespace biogpu::gpu::bwt {

// keys[i], positions[i] = the first word and the position of suffix i of the order that a stable
// sort is to see: it leaves a suffix that has ended where it belongs among those that its word
// equals.
void launch_first_keys(const SuffixText& text, std::uint64_t* keys, std::uint32_t* positions,
                       Stream& stream);
// heads[i] = i where place i begins a group, else 0: its key differs from the one before it, or one
// of both suffixes has ended within it.
void launch_first_heads(const SuffixText& text, const std::uint64_t* keys,
                        const std::uint32_t* positions, std::uint32_t* heads, Stream& stream);
// keys[i] = group[i] above rank[positions[i] + h], in n_bits each.
void launch_round_keys(const std::uint32_t* positions, const std::uint32_t* group,
                       const std::uint32_t* rank, std::uint32_t n, std::uint32_t h, int n_bits,
                       std::uint64_t* keys, Stream& stream);
// The transform of a text of 2-bit bases without ends, the sentinel left out, 16 bases in a word,
// the first highest; *primary = the sentinel's row, counting the empty suffix as row 0.
void launch_find_primary(const std::uint32_t* sa, std::uint32_t n, std::uint32_t* primary,
                         Stream& stream);
void launch_transform(const SuffixText& text, const std::uint32_t* sa, const std::uint32_t* primary,
                      std::uint32_t* bwt, Stream& stream);

// Sorts the suffixes of a text of fewer than 2^32 - 1 symbols on the current device.
//
// Radix sort by the first word. Few suffixes that are left tied are sorted by the ranks of those h
// further on, h = 32 bases, 64, ..., only tied ones taking part in a round; many by jumps.
// Memory: 40 bytes and a word's share for each symbol, 12 more for each tied one, 52 for each
// sample, and what the radix sort needs.
// Source  Manber, Myers: doi:10.1137/0222058; Larsson, Sadakane: doi:10.1016/j.tcs.2007.07.017
class SuffixSorter {
 public:
  // text.words lies in host memory. Queues and waits.
  void sort(const SuffixText& text);

  std::uint64_t n() const { return text_.n; }
  int n_rounds() const { return n_rounds_; }
  double device_seconds() const { return seconds_; }
  std::uint64_t device_bytes() const { return device_bytes_; }
  // To host memory: n positions.
  void copy_suffix_array(std::uint32_t* sa);
  // Queues the copy of n positions from that of row `begin` on.
  void queue_copy(std::uint64_t begin, std::uint64_t n, std::uint32_t* sa);
  void synchronize() { stream_.synchronize(); }
  // Of 2-bit bases without ends, to host memory: (n + 15) / 16 words. Returns the primary row.
  std::uint32_t copy_transform(std::uint32_t* bwt);

 private:
  void first_round();
  void double_ranks();

  Stream stream_;
  SuffixText text_;
  GroupSorter tied_;
  JumpSorter jumps_;
  DeviceBuffer<std::uint64_t> words_;
  DeviceBuffer<std::uint32_t> rank_, sa_;  // rank_[n]: the empty suffix
  int n_rounds_ = 0;
  double seconds_ = 0;
  std::uint64_t device_bytes_ = 0;
};

}  // namespace biogpu::gpu::bwt
