#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace biogpu::gpu::ops {

// One piece of attention's work: queries [first, first + kQueryRows) of one sequence, which kernels
// may divide further.
struct QueryTile {
  std::int32_t begin = 0;   // of the sequence, in tokens
  std::int32_t length = 0;  // of the sequence
  std::int32_t first = 0;   // query, within the sequence
  std::int32_t sequence = 0;
};
inline constexpr int kQueryRows = 128;

// The work list of a batch, tiles of long sequences first, so that no long one starts last.
// starts: [n_sequences + 1].
std::vector<QueryTile> query_tiles(std::span<const std::int32_t> starts);

}  // namespace biogpu::gpu::ops
