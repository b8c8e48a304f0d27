#include "lib/ops/normalisation/layer_norm_grad.hpp"

#include <cmath>
#include <vector>

#include "lib/ops/reference/real.hpp"

namespace biogpu::ops {
namespace {

template <class T>
void layer_norm_grad_row(const LayerNormGrad& op, std::int64_t r) {
  const T *const x = op.x.row<T>(r), *const d_out = op.d_out.row<T>(r);
  const std::int64_t d = op.x.shape[1];
  const auto n = static_cast<double>(d);
  double mean = 0, variance = 0;
  for (std::int64_t k = 0; k < d; ++k) mean += static_cast<double>(x[k]) / n;
  for (std::int64_t k = 0; k < d; ++k) variance += (x[k] - mean) * (x[k] - mean) / n;
  const double scale = 1 / std::sqrt(variance + static_cast<double>(op.norm.eps));
  std::vector<double> z(static_cast<std::size_t>(d)), g = z;
  double mean_g = 0, mean_gz = 0;
  for (std::size_t k = 0; k < z.size(); ++k) {
    z[k] = (x[k] - mean) * scale;
    g[k] = static_cast<double>(d_out[k]) * static_cast<double>(op.norm.weight.as<T>()[k]);
    mean_g += g[k] / n;
    mean_gz += g[k] * z[k] / n;
  }
  for (std::size_t k = 0; k < z.size(); ++k)
    op.d_x.row<T>(r)[k] = static_cast<T>(scale * (g[k] - mean_g - z[k] * mean_gz));
}

}  // namespace

void layer_norm_grad_ref(const LayerNormGrad& op) {
  reference::with_real(op.x, [&](auto real) {
    for (std::int64_t r = 0; r < op.x.shape[0]; ++r) layer_norm_grad_row<decltype(real)>(op, r);
  });
}

}  // namespace biogpu::ops
