// Centres and covariances of the atoms of complexes.
//
// Shapes   see lib/models/dualbind/ops/covariance.hpp; about 430 tokens a complex.
// Mapping  a block of 128 threads a complex; thread i takes tokens i, i + 128, ...; sums meet in
//          shared memory.
// Traffic  12 bytes a token, read twice; bound by the launch.
// Result   double precision in a fixed tree, rounded at the end: the same for all widths.
// Source   own.
// Oracle   covariance_ref, lib/models/dualbind/ops/covariance_ref.cpp.
#include "lib/models/dualbind/ops/covariance.hpp"

#include "gpu/models/dualbind/block_sum.hpp"
#include "gpu/ops/device.hpp"

namespace biogpu::gpu::dualbind {
namespace {

constexpr int kCovarianceBlock = 128;

struct CovarianceArrays {
  const float* positions;
  const std::int32_t* starts;
  float *centre, *covariance;
};

__global__ __launch_bounds__(kCovarianceBlock) void covariance_kernel(CovarianceArrays a) {
  __shared__ double sums[kCovarianceBlock];
  const std::int64_t complex = blockIdx.x;
  const std::int64_t begin = a.starts[complex], end = a.starts[complex + 1];
  const int thread = static_cast<int>(threadIdx.x);
  double centre[3] = {}, squares[6] = {};
  for (std::int64_t t = begin + thread; t < end; t += kCovarianceBlock) {
#pragma unroll
    for (int i = 0; i < 3; ++i) centre[i] += static_cast<double>(a.positions[3 * t + i]);
  }
  const double n = begin < end ? static_cast<double>(end - begin) : 1.0;
#pragma unroll
  for (int i = 0; i < 3; ++i) centre[i] = block_sum<kCovarianceBlock>(centre[i], sums) / n;
  for (std::int64_t t = begin + thread; t < end; t += kCovarianceBlock) {
    const double x = static_cast<double>(a.positions[3 * t]) - centre[0];
    const double y = static_cast<double>(a.positions[3 * t + 1]) - centre[1];
    const double z = static_cast<double>(a.positions[3 * t + 2]) - centre[2];
    squares[0] += x * x;
    squares[1] += x * y;
    squares[2] += x * z;
    squares[3] += y * y;
    squares[4] += y * z;
    squares[5] += z * z;
  }
#pragma unroll
  for (double& square : squares) square = block_sum<kCovarianceBlock>(square, sums);
  if (thread != 0) return;
  constexpr int kOf[9] = {0, 1, 2, 1, 3, 4, 2, 4, 5};
#pragma unroll
  for (int i = 0; i < 9; ++i) a.covariance[9 * complex + i] = static_cast<float>(squares[kOf[i]]);
#pragma unroll
  for (int i = 0; i < 3; ++i) a.centre[3 * complex + i] = static_cast<float>(centre[i]);
}

}  // namespace

void covariance(ops::Device& device, const models::dualbind::Covariance& op) {
  const auto n_complexes = static_cast<std::size_t>(op.centre.shape[0]);
  if (n_complexes == 0) return;
  const CovarianceArrays arrays{op.positions.as<float>(), op.starts.as<std::int32_t>(),
                                op.centre.as<float>(), op.covariance.as<float>()};
  device.stream().launch(covariance_kernel, n_complexes, kCovarianceBlock, arrays);
}

}  // namespace biogpu::gpu::dualbind
