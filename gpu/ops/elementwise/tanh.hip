// tanh of numbers in place.
//
// Shapes   see lib/ops/elementwise/tanh.hpp.
// Mapping  one thread per number.
// Traffic  8 bytes a number; memory bound.
// Result   the device's tanhf.
// Source   own.
// Oracle   tanh_ref, lib/ops/elementwise/tanh_ref.cpp.
#include "gpu/ops/device.hpp"
#include "gpu/ops/row_threads.hpp"
#include "lib/ops/elementwise/tanh.hpp"

namespace biogpu::gpu::ops {
namespace {

__global__ __launch_bounds__(kRowBlock) void tanh_kernel(float* x, std::int64_t n) {
  if (thread_number() < n) x[thread_number()] = tanhf(x[thread_number()]);
}

}  // namespace

void tanh(Device& device, const biogpu::ops::Tanh& op) {
  const std::int64_t n = op.x.size();
  if (n == 0) return;
  device.stream().launch(tanh_kernel, row_blocks(n), kRowBlock, op.x.as<float>(), n);
}

}  // namespace biogpu::gpu::ops
