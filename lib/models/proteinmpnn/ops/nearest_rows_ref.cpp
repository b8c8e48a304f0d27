#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "lib/models/proteinmpnn/ops/nearest_rows.hpp"

namespace biogpu::models::proteinmpnn {

// In fp32: which of two rows is nearer may hang on the rounding.
void nearest_rows_ref(const NearestRows& op) {
  const auto* const present = op.present.as<std::uint8_t>();
  const std::int64_t k = op.rows.shape[1];
  for (std::int64_t i = 0; i < op.points.shape[0]; ++i) {
    const auto* const segment = op.segments.row<std::int32_t>(i);
    const auto distance = [&](std::int64_t j) {
      float squares[3];
      for (std::int64_t x = 0; x < 3; ++x) {
        const std::int64_t at = 3 * op.point + x;
        const float step = op.points.row<float>(j)[at] - op.points.row<float>(i)[at];
        squares[x] = step * step;
      }
      return std::sqrt(squares[0] + squares[1] + squares[2] + 1e-6f);
    };
    float longest = 0;
    for (std::int32_t j = segment[0]; j < segment[0] + segment[1]; ++j)
      if (present[i] != 0 && present[j] != 0) longest = std::max(longest, distance(j));
    std::vector<std::pair<float, std::int32_t>> all;
    for (std::int32_t j = segment[0]; j < segment[0] + segment[1]; ++j)
      all.emplace_back(present[i] != 0 && present[j] != 0 ? distance(j) : longest, j);
    std::sort(all.begin(), all.end());
    const auto n = std::min<std::size_t>(static_cast<std::size_t>(k), all.size());
    for (std::size_t e = 0; e < static_cast<std::size_t>(k); ++e) {
      op.rows.row<std::int32_t>(i)[e] = e < n ? all[e].second : static_cast<std::int32_t>(i);
      op.distances.row<float>(i)[e] = e < n ? all[e].first : 0;
    }
    op.counts.as<std::int32_t>()[i] = static_cast<std::int32_t>(n);
  }
}

}  // namespace biogpu::models::proteinmpnn
