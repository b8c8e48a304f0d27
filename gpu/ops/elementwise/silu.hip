// x / (1 + exp(-x)), number by number.
//
// Shapes   see lib/ops/elementwise/silu.hpp.
// Mapping  one thread per number.
// Traffic  8 bytes a number, 6 with 16-bit results; memory bound.
// Result   the device's expf.
// Source   Elfwing, Uchibe and Doya 2018, arXiv 1702.03118.
// Oracle   silu_ref, lib/ops/elementwise/silu_ref.cpp.
#include "lib/ops/elementwise/silu.hpp"

#include "gpu/ops/device.hpp"
#include "gpu/ops/element_access.hpp"
#include "gpu/ops/row_threads.hpp"

namespace biogpu::gpu::ops {
namespace {

__global__ __launch_bounds__(kRowBlock) void silu_kernel(Rows out, const float* x, std::int64_t n) {
  const std::int64_t i = thread_number();
  if (i < n) store_element(out, i, 0, x[i] / (1.0f + expf(-x[i])));
}

}  // namespace

void silu(Device& device, const biogpu::ops::Silu& op) {
  const std::int64_t n = op.x.size();
  if (n == 0) return;
  const Rows out{op.out.data, 1, element_of(op.out.dtype)};
  device.stream().launch(silu_kernel, row_blocks(n), kRowBlock, out, op.x.as<float>(), n);
}

}  // namespace biogpu::gpu::ops
