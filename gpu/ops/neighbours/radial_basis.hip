// Radial functions of distances with a cosine cutoff.
//
// Shapes   see lib/ops/neighbours/radial_basis.hpp; R functions.
// Mapping  one thread per distance and function, in order of memory.
// Traffic  4 R bytes a distance written; memory bound: two exponentials and a cosine a number.
// Result   within 1e-6 of the largest number.
// Source   exponential normal smearing of torchmd-net (Unke and Meuwly 2019, arXiv 1902.08408).
// Oracle   radial_basis_ref, lib/ops/neighbours/radial_basis_ref.cpp.
#include "lib/ops/neighbours/radial_basis.hpp"

#include "gpu/ops/device.hpp"
#include "gpu/ops/neighbours/radial_terms.hpp"
#include "gpu/ops/row_threads.hpp"

namespace biogpu::gpu::ops {
namespace {

__global__ __launch_bounds__(kRowBlock) void radial_basis_kernel(float* out, const float* distance,
                                                                 const float* means,
                                                                 const float* betas, float lower,
                                                                 float upper, std::int64_t n,
                                                                 int n_functions) {
  const RowGroup at = row_group(n_functions);
  if (at.row >= n) return;
  const RadialTerms terms = radial_terms(distance[at.row], lower, upper);
  const float off = terms.scaled - means[at.group];
  out[at.row * n_functions + at.group] = terms.cutoff * expf(-betas[at.group] * off * off);
}

}  // namespace

void radial_basis(Device& device, const biogpu::ops::RadialBasis& op) {
  const std::int64_t n = op.out.shape[0], n_functions = op.out.shape[1];
  if (n * n_functions == 0) return;
  device.stream().launch(radial_basis_kernel, row_blocks(n * n_functions), kRowBlock,
                         op.out.as<float>(), op.distance.as<float>(), op.means.as<float>(),
                         op.betas.as<float>(), op.cutoff_lower, op.cutoff_upper, n,
                         static_cast<int>(n_functions));
}

}  // namespace biogpu::gpu::ops
