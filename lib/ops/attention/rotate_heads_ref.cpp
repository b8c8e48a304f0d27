#include "lib/ops/attention/rotate_heads.hpp"

namespace biogpu::ops {

void rotate_heads_ref(const RotateHeads& op) {
  const std::int64_t half = op.rotary.cos_sin.shape[1] / 2;
  for (std::int64_t t = 0; t < op.x.shape[0]; ++t) {
    const float* const cosines = op.rotary.cos_sin.row<float>(op.positions.as<std::int32_t>()[t]);
    for (std::int64_t head = 0; head < op.x.shape[1]; ++head) {
      float* const x = op.x.row<float>(t) + head * op.x.stride[1];
      for (std::int64_t i = 0; i < half; ++i) {
        const double a = x[i], b = x[i + half], c = cosines[i], s = cosines[half + i];
        x[i] = static_cast<float>(a * c - b * s);
        x[i + half] = static_cast<float>(b * c + a * s);
      }
    }
  }
}

}  // namespace biogpu::ops
