#pragma once

#include <cstdint>
#include <vector>

#include "gpu/bwt/group_sort.hpp"
#include "gpu/bwt/suffix_text.hpp"
#include "gpu/rt/buffer.hpp"
#include "gpu/rt/stream.hpp"

namespace biogpu::gpu::bwt {

// Suffixes fall into bins by the highest bits of their first word.
inline constexpr int kBinBits = 12;
inline constexpr std::uint32_t kBins = 1u << kBinBits;
// Suffixes that one thread looks at when those of some bins are picked out.
inline constexpr std::uint32_t kRun = 64;

// bins[kBins] += suffixes in each bin.
void launch_count_bins(const SuffixText& text, std::uint64_t* bins, Stream& stream);
// counts[r] = suffixes of run r in bins [first, last).
void launch_count_run(const SuffixText& text, std::uint32_t first, std::uint32_t last,
                      std::uint32_t* counts, Stream& stream);
// Lists them, in the order that a stable sort is to see: position, first word, and values[i] = i.
// sums: the running sum of counts.
void launch_list_run(const SuffixText& text, std::uint32_t first, std::uint32_t last,
                     const std::uint32_t* sums, std::uint64_t* positions, std::uint64_t* keys,
                     std::uint32_t* values, Stream& stream);
// heads[i] = i where row i begins a group: another first word than the row before, or one of both
// ended within it; else 0.
void launch_block_heads(const SuffixText& text, const std::uint64_t* keys,
                        const std::uint32_t* rows, const std::uint64_t* positions, std::uint32_t n,
                        std::uint32_t* heads, Stream& stream);
// keys[k], values[k] = the word `depth` symbols behind suffix rows[k], and k.
void launch_next_words(const SuffixText& text, const std::uint32_t* rows,
                       const std::uint64_t* positions, std::uint64_t depth, std::uint32_t n,
                       std::uint64_t* keys, std::uint32_t* values, Stream& stream);
// keys[k] = group[values[k]].
void launch_group_keys(const std::uint32_t* group, const std::uint32_t* values, std::uint32_t n,
                       std::uint64_t* keys, Stream& stream);
// to[k] = from[order[k]], also in sorted[place[k]].
void launch_order_rows(const std::uint32_t* from, const std::uint32_t* order,
                       const std::uint32_t* place, std::uint32_t n, std::uint32_t* to,
                       std::uint32_t* sorted, Stream& stream);
// heads[k] = place[k] where suffix k begins a group: another group before, another word, or the one
// before has ended within it.
void launch_word_heads(const SuffixText& text, const std::uint64_t* words,
                       const std::uint32_t* rows, const std::uint64_t* positions,
                       const TiedItems& active, std::uint64_t depth, std::uint32_t n,
                       std::uint32_t* heads, Stream& stream);
// out[i] = positions[rows[i]].
void launch_positions(const std::uint64_t* positions, const std::uint32_t* rows, std::uint32_t n,
                      std::uint64_t* out, Stream& stream);
void launch_positions(const std::uint64_t* positions, const std::uint32_t* rows, std::uint32_t n,
                      std::uint32_t* out, Stream& stream);

// Sorts the suffixes of a text that is too long for SuffixSorter, or has ends: block by block of
// the suffix array, each as large as memory allows. A block is what lies in some neighbouring bins.
//
// Radix sort by the first word; what ties is sorted by the words that follow, and what still ties
// after so many is left to the caller, who has every position then.
// Memory: the text, 4 bytes for 64 symbols, and 44 to 68 bytes for each suffix of a block.
class BlockSorter {
 public:
  // A stretch of a block whose suffixes share their first depth symbols: rows begin ... + size.
  struct Group {
    std::uint32_t begin = 0;
    std::uint32_t size = 0;
  };

  // text.words lies in host memory. max_bytes: of device memory. max_rows: the largest block; 0:
  // what these hold. Throws DeviceError{out_of_memory} where the suffixes of one bin are more.
  BlockSorter(const SuffixText& text, std::uint64_t max_bytes, std::uint64_t max_rows);

  std::size_t n_blocks() const { return blocks_.size(); }
  std::uint64_t n_rows(std::size_t block) const { return blocks_[block].n_rows; }
  // Blocks follow each other in the suffix array.
  void sort(std::size_t block);
  // Queues the copy of sorted rows [begin, begin + n) of the block to host memory, as 4 or 8 bytes.
  void queue_copy(std::uint64_t begin, std::uint64_t n, int index_bytes, void* host);
  void synchronize() { stream_.synchronize(); }

  // What ties in the block that was sorted last, and how far.
  std::vector<Group> ties();
  std::uint64_t tie_depth() const { return depth_; }
  int n_rounds() const { return n_rounds_; }  // most of any block
  double device_seconds() const { return seconds_; }
  std::uint64_t device_bytes() const { return device_bytes_; }

 private:
  struct Block {
    std::uint32_t first_bin = 0;
    std::uint32_t last_bin = 0;
    std::uint64_t n_rows = 0;
  };

  void upload(const SuffixText& text);
  void cut_blocks(std::uint64_t max_rows);
  void reserve(std::uint64_t n_rows);
  void first_round(const Block& block);
  void next_round(std::uint32_t n);
  void compact(const std::uint32_t* rows, std::uint32_t n, const TiedItems& from);

  Stream stream_;
  SuffixText text_;
  std::vector<Block> blocks_;
  DeviceBuffer<std::uint64_t> words_, positions_, keys_[2];
  DeviceBuffer<std::uint32_t> counts_, values_[2], rows_, heads_, groups_;
  DeviceBuffer<std::uint32_t> active_rows_[2], place_[2], group_[2];  // of what ties
  DeviceBuffer<std::uint8_t> workspace_;
  std::uint64_t n_rows_ = 0;
  std::uint32_t n_active_ = 0;
  bool positions_ready_ = false;  // in keys_[0], of index_bytes_ each
  int index_bytes_ = 0;
  std::uint64_t depth_ = 0;
  int n_rounds_ = 0;
  double seconds_ = 0;
  std::uint64_t device_bytes_ = 0;
};

}  // namespace biogpu::gpu::bwt
