#pragma once

#include "lib/models/proteinmpnn/ops/declare.hpp"

namespace biogpu::models::proteinmpnn {

// The K rows of the same segment whose points are nearest to each row's, rising: itself first. A
// distance is sqrt(|p_i - p_j|^2 + 1e-6), every step rounded, where both rows are present, and
// otherwise the longest that row i has (0 where it is absent itself); of equal ones the lower row
// comes first. Same bits on every device. GPUs: K <= 48.
struct NearestRows {
  Tensor points;           // f32 [T, P, 3], contiguous
  std::int64_t point = 0;  // which of the P
  Tensor present;          // u8 [T]
  Tensor segments;         // i32 [T, 2]: first row and length of each row's segment
  Tensor rows;             // i32 [T, K]: the row itself where its segment has no more
  Tensor distances;        // f32 [T, K]: 0 there
  Tensor counts;           // i32 [T]: min(K, length of the segment)
};
BIOGPU_DECLARE_OP(nearest_rows, NearestRows);

}  // namespace biogpu::models::proteinmpnn
