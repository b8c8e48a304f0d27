#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/kmer/ranges.hpp"

namespace biogpu::gpu {
class Stream;
}

namespace biogpu::gpu::kmer {

inline constexpr int kMaxK = 32;

// How a k-mer becomes its place in the order of the database: see lib/kmer/order/key_order.hpp.
struct PlaceRule {
  int k = 0;
  bool canonical = false;
  int size_bits = 0;                      // 0: the place is the key
  const std::uint64_t* tables = nullptr;  // [n_tables][256], device memory: key bytes to pos
  int n_tables = 0;
};

// The bases of a TextChunk. Device memory throughout.
struct PlacesArgs {
  PlaceRule rule;
  const std::uint32_t* bases = nullptr;    // [n_bases / 16 + 4]
  const std::uint32_t* invalid = nullptr;  // [n_bases / 32 + 2]
  std::uint64_t n_bases = 0;               // a window begins at each but the last k - 1
  // Only places whose highest kRangeBits bits (of 2k; all of them where 2k is less) are in
  // [first_range, last_range) count.
  std::uint32_t first_range = 0;
  std::uint32_t last_range = kRanges;
  std::uint64_t* places = nullptr;         // written in any order
  std::uint64_t capacity = 0;              // of places; more windows are counted and not written
  unsigned long long* n_places = nullptr;  // one counter, 0 before
};

void launch_places(const PlacesArgs& args, Stream& stream);

inline constexpr unsigned kMaxParts = 8;

// Places that go to several devices: those of part p to memory of its own, which may be a peer's.
struct PlacesToPartsArgs {
  PlacesArgs text;  // its ranges, places and counter are not used
  unsigned n_parts = 1;
  std::uint32_t first_range[kMaxParts + 1] = {};  // of each part; then that behind the last part's
  std::uint64_t* places[kMaxParts] = {};          // of each part, written in any order
  std::uint64_t capacity = 0;              // of each; more windows are counted and not written
  unsigned long long* n_places = nullptr;  // [n_parts] on this device, 0 before
};

void launch_places_to_parts(const PlacesToPartsArgs& args, Stream& stream);

// Adds to histogram[kRanges] how many windows fall into each range; places and n_places are not
// used.
void launch_range_histogram(const PlacesArgs& args, unsigned long long* histogram, Stream& stream);

}  // namespace biogpu::gpu::kmer
