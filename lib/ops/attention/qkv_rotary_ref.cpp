#include "lib/ops/attention/qkv_rotary.hpp"
#include "lib/ops/gemm/gemm.hpp"

namespace biogpu::ops {

void qkv_rotary_ref(const QkvRotary& op) {
  gemm_ref({op.x, op.linear, Activation::none, {}, op.qkv});
  if (op.rotary.cos_sin.empty()) return;
  const std::int64_t h = op.rotary.cos_sin.shape[1];
  for (std::int64_t t = 0; t < op.x.shape[0]; ++t) {
    const float* const cosines = op.rotary.cos_sin.row<float>(op.positions.as<std::int32_t>()[t]);
    const float* const sines = cosines + h / 2;
    for (std::int64_t head = 0; head < 2 * op.n_heads; ++head) {
      float* const x = op.qkv.row<float>(t) + head * h;
      for (std::int64_t i = 0; i < h / 2; ++i) {
        const double a = x[i], b = x[i + h / 2];
        x[i] = static_cast<float>(a * cosines[i] - b * sines[i]);
        x[i + h / 2] = static_cast<float>(b * cosines[i] + a * sines[i]);
      }
    }
  }
}

}  // namespace biogpu::ops
