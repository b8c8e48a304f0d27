#pragma once

#include <cstdint>
#include <type_traits>

namespace biogpu::qc {

// fastp's number of the filter that a read fails; of a pair the greater of both counts.
enum class Verdict : unsigned char {
  passed = 0,
  too_many_n = 12,
  too_short = 16,
  too_long = 17,
  low_quality = 20,
  low_complexity = 24,
  adapter_dimer = 28
};

inline constexpr int kVerdicts = 32;
inline constexpr int kMaxInsertSize = 512;

// Bits of TrimResult::flags.
inline constexpr std::uint8_t kDropped = 1;       // by trimming; the read was left as it was
inline constexpr std::uint8_t kAdapterAhead = 2;  // it begins before the read: nothing is left
inline constexpr std::uint8_t kCutByOverlap =
    4;                                          // the overlap showed an adapter, even an empty one
inline constexpr std::uint8_t kHasPolyX = 8;    // a tail of poly_x was cut
inline constexpr std::uint8_t kCorrected = 16;  // at least one base
inline constexpr std::uint8_t kCountsAfter =
    32;  // in the statistics after filtering; set by kernels
inline constexpr std::uint8_t kFastaAdapter = 64;  // one of --adapter_fasta was cut that counts

// The outcome of one read, from the CPU's steps or a kernel to the counters and the writer.
// Positions are in the read as it came.
struct TrimResult {
  std::int32_t begin = 0;  // what is left: [begin, begin + length)
  std::int32_t length = 0;
  std::int32_t adapter_begin = 0;  // what was cut as an adapter
  std::int32_t adapter_length = 0;
  std::int32_t poly_x_length = 0;
  std::int16_t insert_size = 0;  // of a pair, with its first mate; -1: not known
  std::uint8_t poly_x = 0;       // index into "ATCG"
  std::uint8_t flags = 0;
  // Of the filters; until they have run: passed, or an adapter dimer.
  Verdict verdict = Verdict::passed;
};

// One base that correction replaces, with its quality.
struct BaseChange {
  std::uint32_t read = 0;     // of pairs, 2 i or 2 i + 1
  std::int32_t position = 0;  // in the read as it came
  char base = 0;
  char quality = 0;
};

// One adapter of --adapter_fasta that was cut off and counts.
struct FastaCut {
  std::uint32_t read = 0;  // of pairs, 2 i or 2 i + 1
  std::int32_t begin = 0;  // in the read as it came; -1 - k: adapter k begins before the read
  std::int32_t length =
      0;  // of what was cut; of the adapter's head where it begins before the read
};

// The host and kernels share the layout of these.
static_assert(sizeof(TrimResult) == 28 && std::is_trivially_copyable_v<TrimResult>);
static_assert(sizeof(BaseChange) == 12 && std::is_trivially_copyable_v<BaseChange>);
static_assert(sizeof(FastaCut) == 12 && std::is_trivially_copyable_v<FastaCut>);

}  // namespace biogpu::qc
