// The gradient of layer normalisation by its input.
//
// Shapes   see lib/ops/normalisation/layer_norm_grad.hpp.
// Mapping  32 lanes a row, whose sums end in a fixed tree.
// Traffic  12 bytes a number, the second and third pass from caches; memory bound.
// Result   fused products in fp32; the same for all grids and widths.
// Source   own.
// Oracle   lib/ops/normalisation/layer_norm_grad_ref.cpp.
#include "lib/ops/normalisation/layer_norm_grad.hpp"

#include "gpu/ops/device.hpp"
#include "gpu/ops/row_lanes.hpp"

namespace biogpu::gpu::ops {
namespace {

struct NormGradArrays {
  const float *x, *weight, *d_out;
  float* d_x;
  float eps;
  std::int64_t n_rows;
  int d;
};

template <int kWave>
__global__ __launch_bounds__(kRowBlock) void layer_norm_grad_kernel(NormGradArrays a) {
  const std::int64_t row = thread_number() / kLanes;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const int d = row < a.n_rows ? a.d : 0;  // all lanes take part in the exchange
  const float *const x = a.x + row * a.d, *const d_out = a.d_out + row * a.d;
  const float per_number = 1.0f / static_cast<float>(a.d);
  float total = 0, squares = 0, sum_g = 0, sum_gz = 0;
  for (int i = lane; i < d; i += kLanes) total += x[i];
  const float mean = sum_of_lanes<kWave>(total) * per_number;
  for (int i = lane; i < d; i += kLanes) {
    const float off = x[i] - mean, g = d_out[i] * a.weight[i];
    squares += off * off;
    sum_g += g;
    sum_gz += off * g;
  }
  const float scale = 1.0f / sqrtf(sum_of_lanes<kWave>(squares) * per_number + a.eps);
  const float mean_g = sum_of_lanes<kWave>(sum_g) * per_number;
  const float mean_gz = sum_of_lanes<kWave>(sum_gz) * per_number * scale * scale;
  for (int i = lane; i < d; i += kLanes)
    a.d_x[row * a.d + i] = scale * (d_out[i] * a.weight[i] - mean_g - (x[i] - mean) * mean_gz);
}

}  // namespace

void layer_norm_grad(Device& device, const biogpu::ops::LayerNormGrad& op) {
  const NormGradArrays arrays{op.x.as<float>(),
                              op.norm.weight.as<float>(),
                              op.d_out.as<float>(),
                              op.d_x.as<float>(),
                              op.norm.eps,
                              op.x.shape[0],
                              static_cast<int>(op.x.shape[1])};
  launch_rows(device.stream(), layer_norm_grad_kernel<32>, layer_norm_grad_kernel<64>,
              arrays.n_rows, arrays);
}

}  // namespace biogpu::gpu::ops
