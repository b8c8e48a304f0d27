#include "lib/models/dualbind/ops/covariance.hpp"

namespace biogpu::models::dualbind {

// By the raw moments, in long double: another formula than that of the CPU and the GPU.
void covariance_ref(const Covariance& op) {
  const auto* const starts = op.starts.as<std::int32_t>();
  for (std::int64_t c = 0; c < op.centre.shape[0]; ++c) {
    long double sum[3] = {}, squares[3][3] = {};
    const std::int64_t n = starts[c + 1] - starts[c];
    for (std::int64_t t = starts[c]; t < starts[c + 1]; ++t) {
      const float* const x = op.positions.row<float>(t);
      for (int i = 0; i < 3; ++i) {
        sum[i] += x[i];
        for (int j = 0; j < 3; ++j) squares[i][j] += static_cast<long double>(x[i]) * x[j];
      }
    }
    for (int i = 0; i < 3; ++i) {
      op.centre.row<float>(c)[i] = n == 0 ? 0.0f : static_cast<float>(sum[i] / n);
      for (int j = 0; j < 3; ++j)
        op.covariance.row<float>(c)[3 * i + j] =
            n == 0 ? 0.0f : static_cast<float>(squares[i][j] - sum[i] * sum[j] / n);
    }
  }
}

}  // namespace biogpu::models::dualbind
