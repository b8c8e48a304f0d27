#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gpu/rt/buffer.hpp"
#include "gpu/rt/stream.hpp"

namespace biogpu::gpu::bwt {

// The index's arrays in device memory, laid out as in its file (docs/formats/fm_index.md). A block
// is 64 bytes: four 32-bit counts and three planes of two 64-bit words.
struct FmArrays {
  const std::uint64_t* blocks = nullptr;
  const std::uint64_t* stretches = nullptr;  // four counts for each 2^31 rows
  const std::uint8_t* table = nullptr;
  const std::uint8_t* samples = nullptr;
  const std::uint64_t* starts = nullptr;    // row, position; by row
  const std::uint64_t* text = nullptr;      // 2-bit letters
  const std::uint64_t* segments = nullptr;  // begin, length, contig, begin in the contig; by begin
  std::uint64_t n_rows = 0;
  std::uint64_t n_segments = 0;
  std::uint64_t sample_rate = 1;
  std::uint64_t table_k = 0;
  std::uint64_t first_row[5] = {};
  std::uint32_t row_bytes = 4;
  std::uint32_t* damaged = nullptr;  // set to 1 where the index contradicts itself
};

// A string to be found: `length` 2-bit letters from letter `begin` of the packed patterns on.
struct FmProbe {
  std::uint64_t begin = 0;
  std::uint32_t length = 0;
  std::uint32_t searchable = 0;  // 0: it holds a letter that matches nothing
};

// counts[i] = occurrences of probe i.
void launch_fm_count(const FmArrays& index, const std::uint64_t* patterns, const FmProbe* probes,
                     std::uint32_t n_probes, std::uint32_t* counts, Stream& stream);
// positions[first[i], first[i + 1]) = where probe i occurs, by row; first holds the running sum of
// counts before i.
void launch_fm_locate(const FmArrays& index, const std::uint64_t* patterns, const FmProbe* probes,
                      std::uint32_t n_probes, const std::uint64_t* first, std::uint64_t* positions,
                      Stream& stream);

// An index that stays on the current device, and searches of batches of probes. Not thread-safe.
class FmSearcher {
 public:
  // bytes: the index's file in host memory; arrays: offsets into it, as pointers from nullptr.
  FmSearcher(const void* bytes, std::uint64_t n_bytes, const FmArrays& arrays);

  // patterns: packed letters with two words behind the last.
  void count(std::span<const std::uint64_t> patterns, std::span<const FmProbe> probes,
             std::span<std::uint64_t> counts);
  // Positions of probe i are positions[first[i], first[i + 1]).
  void locate(std::span<const std::uint64_t> patterns, std::span<const FmProbe> probes,
              std::vector<std::uint64_t>& first, std::vector<std::uint64_t>& positions);

  // Whether a search since the last call found that the index contradicts itself; its results then
  // mean nothing.
  bool take_damaged();

  double device_seconds() const { return seconds_; }
  std::uint64_t device_bytes() const;

 private:
  void count_on_device(std::span<const std::uint64_t> patterns, std::span<const FmProbe> probes,
                       std::vector<std::uint32_t>& counts);

  Stream stream_;
  DeviceBuffer<std::uint8_t> index_;
  FmArrays arrays_;
  DeviceBuffer<std::uint64_t> patterns_, first_, positions_;
  DeviceBuffer<FmProbe> probes_;
  DeviceBuffer<std::uint32_t> counts_, damaged_;
  double seconds_ = 0;
};

}  // namespace biogpu::gpu::bwt
