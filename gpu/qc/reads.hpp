#pragma once

#include <cstddef>
#include <cstdint>

namespace biogpu::gpu::qc {

// The longest read that the kernels take; a batch with a longer one is the CPU's.
inline constexpr int kMaxLength = 512;

// A batch of reads in device memory. Of pairs, read 2 i is the first mate and 2 i + 1 the second.
struct Reads {
  char* bases = nullptr;                  // [n_bytes]; corrected in place
  char* quality = nullptr;                // [n_bytes] Phred + 33
  const std::uint32_t* begin = nullptr;   // [n_reads + 1] of each read in both
  const std::uint8_t* removed = nullptr;  // [n_reads / mates] not 0: a duplicate, left out of
                                          // the statistics after filtering; nullptr: none is
  std::uint32_t n_reads = 0;
  int mates = 1;  // 2: pairs
};

// What is told of a read beside numbers: bits of ReadResult::flags.
constexpr std::uint8_t kDropped = 1;       // by trimming; the read was left as it was
constexpr std::uint8_t kAdapterAhead = 2;  // it begins before the read, of which nothing is left
constexpr std::uint8_t kCutByOverlap = 4;  // the overlap showed an adapter, even an empty one
constexpr std::uint8_t kHasPolyX = 8;      // a tail of poly_x was cut
constexpr std::uint8_t kCorrected = 16;    // some base was
constexpr std::uint8_t kCountsAfter = 32;  // in the statistics after filtering

// What the steps made of a read. Positions are in the read as it came.
struct ReadResult {
  std::uint16_t begin = 0;  // what is left: [begin, begin + length)
  std::uint16_t length = 0;
  std::uint16_t adapter_begin = 0;  // what was cut as an adapter
  std::uint16_t adapter_length = 0;
  std::uint16_t poly_x_length = 0;
  std::int16_t insert_size = 0;  // of a pair, with its first mate; -1: not known
  std::uint8_t verdict = 0;      // fastp's number, 0: passed
  std::uint8_t flags = 0;
  std::uint8_t poly_x = 0;  // index into "ATCG"
  std::uint8_t unused = 0;
};

// One base that was replaced.
struct BaseChange {
  std::uint32_t read = 0;
  std::uint16_t position = 0;  // in the read as it came
  char base = 0;
  char quality = 0;
};

}  // namespace biogpu::gpu::qc
