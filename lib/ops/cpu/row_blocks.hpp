#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "lib/ops/declare.hpp"

namespace biogpu::ops {

// Rows [begin, end) of segment `segment`, counted from its first.
struct RowBlock {
  std::int64_t segment, begin, end;
};

// All rows of all segments in blocks of at most n_rows.
inline std::vector<RowBlock> row_blocks(const Ragged& segments, std::int64_t n_rows) {
  std::vector<RowBlock> blocks;
  for (std::int64_t s = 0; s < segments.n_segments; ++s)
    for (std::int64_t row = 0; row < segments.length(s); row += n_rows)
      blocks.push_back({s, row, std::min(row + n_rows, segments.length(s))});
  return blocks;
}

}  // namespace biogpu::ops
