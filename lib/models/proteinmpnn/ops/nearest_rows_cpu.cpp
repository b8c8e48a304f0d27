#include <algorithm>
#include <cmath>
#include <vector>

#include "lib/models/proteinmpnn/ops/nearest_rows.hpp"
#include "lib/ops/cpu/cpu_context.hpp"

namespace biogpu::models::proteinmpnn {
namespace {

struct Candidate {
  float distance = 0;
  std::int32_t row = 0;
};

float distance(const float* a, const float* b) {
  const float x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
  return std::sqrt(x * x + y * y + z * z + 1e-6f);
}

void find_nearest(const NearestRows& op, std::int64_t i, std::vector<Candidate>& row) {
  const auto* const present = op.present.as<std::uint8_t>();
  const auto* const segment = op.segments.row<std::int32_t>(i);
  const auto point = [&](std::int64_t r) { return op.points.row<float>(r) + 3 * op.point; };
  row.resize(static_cast<std::size_t>(segment[1]));
  float longest = 0.0f;
  for (std::int32_t c = 0; c < segment[1]; ++c) {
    const std::int32_t j = segment[0] + c;
    const bool both = present[i] != 0 && present[j] != 0;
    row[static_cast<std::size_t>(c)] = {both ? distance(point(j), point(i)) : 0.0f, j};
    longest = std::max(longest, row[static_cast<std::size_t>(c)].distance);
  }
  for (Candidate& other : row)
    if (present[i] == 0 || present[other.row] == 0) other.distance = longest;
  const std::int64_t k = std::min<std::int64_t>(op.rows.shape[1], segment[1]);
  // Rows that are absent, which all have the longest distance, come in their order, and before a
  // row at just that distance that is higher. The GPU's keys have the same order.
  std::partial_sort(row.begin(), row.begin() + k, row.end(),
                    [](const Candidate& a, const Candidate& b) {
                      return a.distance < b.distance || (a.distance == b.distance && a.row < b.row);
                    });
  auto* const rows = op.rows.row<std::int32_t>(i);
  auto* const distances = op.distances.row<float>(i);
  std::fill_n(rows, op.rows.shape[1], static_cast<std::int32_t>(i));
  std::fill_n(distances, op.rows.shape[1], 0.0f);
  for (std::int64_t e = 0; e < k; ++e) {
    rows[e] = row[static_cast<std::size_t>(e)].row;
    distances[e] = row[static_cast<std::size_t>(e)].distance;
  }
  op.counts.as<std::int32_t>()[i] = static_cast<std::int32_t>(k);
}

}  // namespace

void nearest_rows_cpu(CpuContext& context, const NearestRows& op) {
  context.for_rows(op.points.shape[0], [&](std::int64_t i, std::int64_t end) {
    std::vector<Candidate> row;
    for (; i < end; ++i) find_nearest(op, i, row);
  });
}

}  // namespace biogpu::models::proteinmpnn
