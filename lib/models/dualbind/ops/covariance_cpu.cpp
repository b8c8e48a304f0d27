#include "lib/models/dualbind/ops/covariance.hpp"
#include "lib/ops/cpu/cpu_context.hpp"

namespace biogpu::models::dualbind {
namespace {

void compute(const Covariance& op, std::int64_t complex) {
  const std::int64_t begin = op.starts.as<std::int32_t>()[complex],
                     end = op.starts.as<std::int32_t>()[complex + 1];
  double centre[3] = {}, sums[3][3] = {};
  for (std::int64_t t = begin; t < end; ++t)
    for (int i = 0; i < 3; ++i) centre[i] += op.positions.row<float>(t)[i];
  for (double& x : centre) x /= begin < end ? static_cast<double>(end - begin) : 1.0;
  for (std::int64_t t = begin; t < end; ++t) {
    const float* const x = op.positions.row<float>(t);
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) sums[i][j] += (x[i] - centre[i]) * (x[j] - centre[j]);
  }
  for (int i = 0; i < 3; ++i) {
    op.centre.row<float>(complex)[i] = static_cast<float>(centre[i]);
    for (int j = 0; j < 3; ++j)
      op.covariance.row<float>(complex)[3 * i + j] = static_cast<float>(sums[i][j]);
  }
}

}  // namespace

void covariance_cpu(CpuContext& context, const Covariance& op) {
  context.for_each(op.centre.shape[0], [&](std::int64_t complex) { compute(op, complex); });
}

}  // namespace biogpu::models::dualbind
