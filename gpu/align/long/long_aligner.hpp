#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "gpu/align/long/long_pair.hpp"
#include "gpu/align/pairs/pair_batch.hpp"

namespace biogpu::gpu::align {

// How a long pair is cut, and the device memory that it takes then.
struct LongPlan {
  std::int32_t block_rows = 0;
  std::int32_t block_columns = 0;
  std::int32_t n_kept_rows = 0;
  std::int32_t n_kept_columns = 0;
  std::uint64_t bytes = 0;
};

// The smallest blocks, for the most parallelism, whose borders fit into max_bytes. Nothing where no
// size of blocks does.
std::optional<LongPlan> plan_long_pair(std::int64_t n_rows, std::int64_t n_columns, bool with_path,
                                       std::uint64_t max_bytes);

// On the host, not empty.
struct LongInput {
  std::span<const std::uint8_t> query;
  std::span<const std::uint8_t> target;
};

struct LongResult {
  PairEnd end = {0, 0, 0};
  PairPath path = {};
  std::vector<std::uint32_t> runs;  // in reading order
};

// Aligns one pair at a time with all of the memory it may take. Errors are DeviceError.
class LongAligner {
 public:
  explicit LongAligner(const BatchSettings& settings);

  LongResult align(const LongInput& pair, const LongPlan& plan);
  void release() { arena_ = Arena(); }
  double device_seconds() const { return seconds_; }  // kernels of the last pair

 private:
  LongPairArgs carve(const LongInput& pair, const LongPlan& plan);
  PairEnd find_end(const LongPairArgs& args, std::size_t n_ends);
  void read_path(const LongPairArgs& args, LongResult& result);

  BatchSettings settings_;
  std::uint64_t shared_bytes_ = 0;  // of a thread block, at most
  Arena arena_;
  double seconds_ = 0;
  Event start_, stop_;
  Stream stream_;  // last: its destruction waits for work on all of the above
};

// Whether neighbouring cells of any matrix under these scores and costs differ by so little that
// launch_long_strips() can keep a strip within 16 bits.
bool fits_strips(const BatchSettings& settings);

}  // namespace biogpu::gpu::align
