#include "lib/models/proteinmpnn/ops/edge_geometry.hpp"

#include <algorithm>
#include <cmath>

namespace biogpu::models::proteinmpnn {
namespace {

const float* edge_point(const EdgeEmbed& op, std::int64_t node, std::int64_t point) {
  return op.points.row<float>(node) + 3 * point;
}

}  // namespace

float pair_distance(const EdgeEmbed& op, std::int64_t i, std::int64_t j, int p) {
  const float* const a = edge_point(op, i, op.pairs[p][0]);
  const float* const b = edge_point(op, j, op.pairs[p][1]);
  const float x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
  return std::sqrt(x * x + y * y + z * z + 1e-6f);
}

std::int32_t position_class(const EdgeEmbed& op, std::int64_t i, std::int64_t j) {
  const auto* const chains = op.chains.as<std::int32_t>();
  const auto* const numbers = op.numbers.as<std::int32_t>();
  if (chains[i] != chains[j]) return EdgeEmbed::kClasses - 1;
  return std::clamp(numbers[i] - numbers[j] + EdgeEmbed::kMaxOffset, 0, 2 * EdgeEmbed::kMaxOffset);
}

void edge_orientation(const EdgeEmbed& op, std::int64_t i, std::int64_t j, float* out) {
  const float* const a = op.frames.row<float>(i);
  const float* const b = op.frames.row<float>(j);
  const auto sign = [](float x) { return x > 0.0f ? 1.0f : x < 0.0f ? -1.0f : 0.0f; };
  const auto half = [](float square) { return 0.5f * std::sqrt(square); };
  float step[3], m[3][3];
  for (int x = 0; x < 3; ++x) step[x] = edge_point(op, j, 1)[x] - edge_point(op, i, 1)[x];
  for (int r = 0; r < 3; ++r) {
    out[r] = a[3 * r] * step[0] + a[3 * r + 1] * step[1] + a[3 * r + 2] * step[2];
    for (int c = 0; c < 3; ++c) m[r][c] = a[r] * b[c] + a[3 + r] * b[3 + c] + a[6 + r] * b[6 + c];
  }
  const float length =
      std::max(std::sqrt(out[0] * out[0] + out[1] * out[1] + out[2] * out[2]), 1e-12f);
  for (int r = 0; r < 3; ++r) out[r] /= length;
  const float x = m[0][0], y = m[1][1], z = m[2][2];
  float* const q = out + 3;
  q[0] = sign(m[2][1] - m[1][2]) * half(std::abs(1.0f + (x - y - z)));
  q[1] = sign(m[0][2] - m[2][0]) * half(std::abs(1.0f + (-x + y - z)));
  q[2] = sign(m[1][0] - m[0][1]) * half(std::abs(1.0f + (-x - y + z)));
  q[3] = half(std::max(0.0f, 1.0f + (x + y + z)));
  const float norm =
      std::max(std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]), 1e-12f);
  for (int d = 0; d < 4; ++d) q[d] /= norm;
}

}  // namespace biogpu::models::proteinmpnn
