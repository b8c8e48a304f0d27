// The gradient of silu, number by number.
//
// Shapes   see lib/ops/elementwise/silu_grad.hpp.
// Mapping  one thread per number.
// Traffic  12 bytes a number, 10 with 16-bit results; memory bound.
// Result   the device's expf.
// Source   own.
// Oracle   silu_grad_ref, lib/ops/elementwise/silu_grad_ref.cpp.
#include "lib/ops/elementwise/silu_grad.hpp"

#include "gpu/ops/device.hpp"
#include "gpu/ops/element_access.hpp"
#include "gpu/ops/row_threads.hpp"

namespace biogpu::gpu::ops {
namespace {

__global__ __launch_bounds__(kRowBlock) void silu_grad_kernel(Rows d_x, const float* x,
                                                              const float* d_out, std::int64_t n) {
  const std::int64_t i = thread_number();
  if (i >= n) return;
  const float s = 1.0f / (1.0f + expf(-x[i]));
  store_element(d_x, i, 0, d_out[i] * s * (1.0f + x[i] * (1.0f - s)));
}

}  // namespace

void silu_grad(Device& device, const biogpu::ops::SiluGrad& op) {
  const std::int64_t n = op.x.size();
  if (n == 0) return;
  const Rows d_x{op.d_x.data, 1, element_of(op.d_x.dtype)};
  device.stream().launch(silu_grad_kernel, row_blocks(n), kRowBlock, d_x, op.x.as<float>(),
                         op.d_out.as<float>(), n);
}

}  // namespace biogpu::gpu::ops
