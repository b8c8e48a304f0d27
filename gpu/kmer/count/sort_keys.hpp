#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/kmer/count/ranges.hpp"

namespace biogpu::gpu {
class Stream;
}

namespace biogpu::gpu::kmer {

inline constexpr int kMaxK = 32;

// How a k-mer becomes its sort key in the order of the database: see lib/kmer/key/key_order.hpp.
struct KeyEncoding {
  int k = 0;
  bool canonical = false;
  int size_bits = 0;                      // 0: the sort key is the key
  const std::uint64_t* tables = nullptr;  // [n_tables][256], device memory: key bytes to pos
  int n_tables = 0;
};

// The bases of a TextChunk. Device memory throughout.
struct SortKeysArgs {
  KeyEncoding rule;
  const std::uint32_t* bases = nullptr;    // [n_bases / 16 + 4]
  const std::uint32_t* invalid = nullptr;  // [n_bases / 32 + 2]
  std::uint64_t n_bases = 0;               // a window begins at each but the last k - 1
  // Only sort keys whose highest kRangeBits bits (of 2k; all of them where 2k is less) are in
  // [first_range, last_range) count.
  std::uint32_t first_range = 0;
  std::uint32_t last_range = kRanges;
  std::uint64_t* sort_keys = nullptr;  // written in any order
  std::uint64_t capacity = 0;          // of sort keys; more windows are counted and not written
  unsigned long long* n_sort_keys = nullptr;  // one counter, 0 before
};

void launch_sort_keys(const SortKeysArgs& args, Stream& stream);

inline constexpr unsigned kMaxParts = 8;

// Sort keys that go to several devices: those of part p to its own memory, which may be a
// peer's.
struct SortKeysToPartsArgs {
  SortKeysArgs text;  // its ranges, sort keys and counter are not used
  unsigned n_parts = 1;
  std::uint32_t first_range[kMaxParts + 1] = {};  // of each part; then that behind the last part's
  std::uint64_t* sort_keys[kMaxParts] = {};       // of each part, written in any order
  std::uint64_t capacity = 0;                 // of each; more windows are counted and not written
  unsigned long long* n_sort_keys = nullptr;  // [n_parts] on this device, 0 before
};

void launch_sort_keys_to_parts(const SortKeysToPartsArgs& args, Stream& stream);

// Adds to histogram[kRanges] how many windows fall into each range; sort keys and n_sort_keys are
// not used.
void launch_range_histogram(const SortKeysArgs& args, unsigned long long* histogram,
                            Stream& stream);

}  // namespace biogpu::gpu::kmer
