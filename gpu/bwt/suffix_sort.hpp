#pragma once

#include <cstdint>

#include "gpu/rt/buffer.hpp"
#include "gpu/rt/stream.hpp"

namespace biogpu::gpu::bwt {

// What the suffix sorter's kernels work on. All in device memory.
//   text[n_words + 2]  2-bit bases, 32 in a word, the first highest; zeros behind the text
//   rank[n + 1]        of each suffix: 1 + where its group begins in the suffix array; rank[n] is
//   0,
//                      the empty suffix
struct SuffixText {
  const std::uint64_t* text = nullptr;
  std::uint32_t n = 0;
};

// Suffixes that share a prefix with others, in the order of their places in the suffix array.
struct ActiveSuffixes {
  std::uint32_t* place = nullptr;  // in the suffix array
  std::uint32_t* group = nullptr;  // the place where its group begins
};

// keys[i], positions[i] = the first 32 bases and the position of suffix n - 1 - i: a stable sort
// then leaves a suffix that has ended before the longer ones that its padding equals.
void launch_first_keys(const SuffixText& text, std::uint64_t* keys, std::uint32_t* positions,
                       Stream& stream);
// heads[i] = i where place i begins a group, else 0: its key differs from the one before it, or one
// of both suffixes has ended within it.
void launch_first_heads(const SuffixText& text, const std::uint64_t* keys,
                        const std::uint32_t* positions, std::uint32_t* heads, Stream& stream);
// The same after a round, for suffixes listed in order; the head's value is its place.
void launch_heads(const std::uint64_t* keys, const std::uint32_t* place, std::uint32_t n_active,
                  std::uint32_t* heads, Stream& stream);
// rank[positions[i]] = group[i] + 1, and sa[place[i]] = positions[i]. place == nullptr: i itself.
void launch_store_ranks(const std::uint32_t* positions, const std::uint32_t* place,
                        const std::uint32_t* group, std::uint32_t n_active, std::uint32_t* rank,
                        std::uint32_t* sa, Stream& stream);
// keep[i] = 1 where suffix i shares its group with a neighbour in the list.
void launch_keep(const std::uint32_t* group, std::uint32_t n_active, std::uint32_t* keep,
                 Stream& stream);
// Moves what is kept to the front; sum is the running sum of keep. from.place == nullptr: i itself.
void launch_compact(const std::uint32_t* positions, const ActiveSuffixes& from,
                    const std::uint32_t* sum, std::uint32_t n_active, std::uint32_t* to_positions,
                    const ActiveSuffixes& to, Stream& stream);
// keys[i] = group[i] above rank[positions[i] + h], in n_bits each.
void launch_round_keys(const std::uint32_t* positions, const std::uint32_t* group,
                       const std::uint32_t* rank, std::uint32_t n_active, std::uint32_t h,
                       int n_bits, std::uint64_t* keys, Stream& stream);
// The transform of the text with the sentinel left out, 16 bases in a word, the first highest;
// *primary = the sentinel's row, counting the empty suffix as row 0.
void launch_find_primary(const std::uint32_t* sa, std::uint32_t n, std::uint32_t* primary,
                         Stream& stream);
void launch_transform(const SuffixText& text, const std::uint32_t* sa, const std::uint32_t* primary,
                      std::uint32_t* bwt, Stream& stream);

// Sorts the suffixes of a text of 2-bit bases on the current device.
//
// Radix sort by the first 32 bases; suffixes that are left tied are sorted by the ranks of those h
// further on, h = 32, 64, ...; only tied ones take part in a round.
// Memory: 40 bytes a base, 12 more for each tied one, and what the radix sort needs. n < 2^32 - 1.
// Source  Manber, Myers: doi:10.1137/0222058; Larsson, Sadakane: doi:10.1016/j.tcs.2007.07.017
class SuffixSorter {
 public:
  // text: host memory, n_words words. Queues and waits.
  void sort(const std::uint64_t* text, std::uint64_t n);

  std::uint32_t n() const { return text_.n; }
  int n_rounds() const { return n_rounds_; }
  double device_seconds() const { return seconds_; }
  std::uint64_t device_bytes() const { return device_bytes_; }
  // To host memory: n positions.
  void copy_suffix_array(std::uint32_t* sa);
  // Queues the copy of n positions from that of row `begin` on.
  void queue_copy(std::uint64_t begin, std::uint64_t n, std::uint32_t* sa);
  void synchronize() { stream_.synchronize(); }
  // To host memory: (n + 15) / 16 words. Returns the primary row.
  std::uint32_t copy_transform(std::uint32_t* bwt);

 private:
  void first_round();
  void rounds();

  Stream stream_;
  SuffixText text_;
  DeviceBuffer<std::uint64_t> words_, keys_[2];
  DeviceBuffer<std::uint32_t> positions_[2], rank_, sa_, place_[2], group_[2], heads_;
  DeviceBuffer<std::uint8_t> workspace_;
  std::uint32_t n_active_ = 0;
  int n_rounds_ = 0;
  double seconds_ = 0;
  std::uint64_t device_bytes_ = 0;
};

}  // namespace biogpu::gpu::bwt
