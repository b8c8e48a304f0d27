#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/kmer/count/ranges.hpp"

namespace biogpu::gpu {
class Stream;
}

namespace biogpu::gpu::kmer {

// One chunk of a text; device memory.
struct WindowChunk {
  const std::uint32_t* bases = nullptr;    // [n_bases / 16 + 4]
  const std::uint32_t* invalid = nullptr;  // [n_bases / 32 + 2]
};

// A text of several chunks, each but the last of 2^chunk_bits letters at most: window `position`
// begins at letter position % 2^chunk_bits of chunk position >> chunk_bits.
struct WindowText {
  const WindowChunk* chunks = nullptr;  // device memory
  int chunk_bits = 0;
  int k = 0;  // 1 to 256
  bool canonical = false;
};

struct FingerprintsArgs {
  WindowText text;
  std::uint32_t chunk = 0;    // the one that is gone through
  std::uint64_t n_bases = 0;  // of it
  // Only fingerprints whose highest kRangeBits bits are in [first_range, last_range) count.
  std::uint32_t first_range = 0;
  std::uint32_t last_range = kRanges;
  std::uint64_t* fingerprints = nullptr;    // written in any order
  std::uint32_t* positions = nullptr;       // beside them
  std::uint64_t capacity = 0;               // of both; more windows are counted and not written
  unsigned long long* n_windows = nullptr;  // one counter, 0 before
};

// The fingerprints of all windows of a chunk and where they begin.
void launch_fingerprints(const FingerprintsArgs& args, Stream& stream);

// Adds to histogram[kRanges] how many windows fall into each range; the output is not used.
void launch_window_histogram(const FingerprintsArgs& args, unsigned long long* histogram,
                             Stream& stream);

struct WindowRunsArgs {
  WindowText text;
  const std::uint64_t* fingerprints = nullptr;  // [n], sorted
  const std::uint32_t* positions = nullptr;     // [n]
  std::uint64_t n = 0;
  std::uint16_t* begins = nullptr;  // [ceil(n / 16)], written: bit i % 16 of word i / 16 is set
                                    // where entry i holds another k-mer than entry i - 1
};

void launch_mark_runs(const WindowRunsArgs& args, Stream& stream);

struct WindowKeysArgs {
  WindowText text;
  const std::uint32_t* positions = nullptr;
  const std::uint64_t* run_begin = nullptr;  // [n]: the k-mer at positions[run_begin[i]]
  std::uint64_t n = 0;
  int n_words = 2;
  std::uint64_t* keys = nullptr;  // [n][n_words], written, the most significant word first
};

void launch_window_keys(const WindowKeysArgs& args, Stream& stream);

}  // namespace biogpu::gpu::kmer
