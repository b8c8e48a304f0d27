// The gradient of radial functions by their distance.
//
// Shapes   see lib/ops/neighbours/radial_basis_grad.hpp; R functions.
// Mapping  32 lanes per distance; lane l takes functions l, l + 32, ..., then a fixed tree.
// Traffic  4 R bytes a distance read; memory bound.
// Result   the same for waves of 32 and 64.
// Source   own.
// Oracle   radial_basis_grad_ref, lib/ops/neighbours/radial_basis_grad_ref.cpp.
#include "lib/ops/neighbours/radial_basis_grad.hpp"

#include "gpu/ops/device.hpp"
#include "gpu/ops/neighbours/radial_terms.hpp"
#include "gpu/ops/row_threads.hpp"
#include "gpu/prim/wave.hpp"

namespace biogpu::gpu::ops {
namespace {

constexpr int kLanes = 32;

struct RadialGrad {
  const float *distance, *means, *betas, *d_out;
  float* d_distance;
  float lower, upper;
  std::int64_t n;
  int n_functions;
};

template <int kWave>
__global__ __launch_bounds__(kRowBlock) void radial_basis_grad_kernel(RadialGrad r) {
  const std::int64_t e = thread_number() / kLanes;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const bool live = e < r.n;  // all lanes take part in the exchange
  float sum = 0;
  if (live) {
    const RadialTerms terms = radial_terms(r.distance[e], r.lower, r.upper);
    for (int k = lane; k < r.n_functions; k += kLanes) {
      const float off = terms.scaled - r.means[k], steep = r.betas[k] * off;
      const float slope = (terms.cutoff_slope + steep * terms.scaled_factor) * expf(-steep * off);
      sum += r.d_out[e * r.n_functions + k] * slope;
    }
  }
  for (int mask = kLanes / 2; mask > 0; mask /= 2)
    sum += wave_shuffle_xor<kWave>(sum, mask, kLanes);
  if (live && lane == 0) r.d_distance[e] = sum;
}

}  // namespace

void radial_basis_grad(Device& device, const biogpu::ops::RadialBasisGrad& op) {
  const RadialGrad r{
      op.distance.as<float>(), op.means.as<float>(),      op.betas.as<float>(),
      op.d_out.as<float>(),    op.d_distance.as<float>(), op.cutoff_lower,
      op.cutoff_upper,         op.d_out.shape[0],         static_cast<int>(op.d_out.shape[1])};
  if (r.n == 0) return;
  const auto kernel = device.stream().wave_width() == 64 ? radial_basis_grad_kernel<64>
                                                         : radial_basis_grad_kernel<32>;
  device.stream().launch(kernel, row_blocks(r.n * kLanes), kRowBlock, r);
}

}  // namespace biogpu::gpu::ops
