// Products with the sigmoid of a gate, and their gradient.
//
// Shapes   see lib/ops/elementwise/sigmoid_gate.hpp.
// Mapping  one thread a number.
// Traffic  12 bytes a number, 20 of the gradient; memory bound.
// Result   the device's expf; the same for all grids.
// Source   own.
// Oracle   lib/ops/elementwise/sigmoid_gate_ref.cpp.
#include "lib/ops/elementwise/sigmoid_gate.hpp"

#include "gpu/ops/device.hpp"
#include "gpu/ops/row_threads.hpp"

namespace biogpu::gpu::ops {
namespace {

__global__ __launch_bounds__(kRowBlock) void sigmoid_gate_kernel(float* out, const float* x,
                                                                 const float* gate,
                                                                 std::int64_t n) {
  const std::int64_t i = thread_number();
  if (i < n) out[i] = x[i] / (1.0f + expf(-gate[i]));
}

struct GateGradArrays {
  const float *x, *gate, *d_out;
  float *d_x, *d_gate;
  std::int64_t n;
};

__global__ __launch_bounds__(kRowBlock) void sigmoid_gate_grad_kernel(GateGradArrays a) {
  const std::int64_t i = thread_number();
  if (i >= a.n) return;
  const float s = 1.0f / (1.0f + expf(-a.gate[i])), d_x = a.d_out[i] * s;
  a.d_gate[i] = d_x * a.x[i] * (1.0f - s);
  a.d_x[i] = d_x;
}

}  // namespace

void sigmoid_gate(Device& device, const biogpu::ops::SigmoidGate& op) {
  const std::int64_t n = op.x.size();
  if (n == 0) return;
  device.stream().launch(sigmoid_gate_kernel, row_blocks(n), kRowBlock, op.out.as<float>(),
                         op.x.as<float>(), op.gate.as<float>(), n);
}

void sigmoid_gate_grad(Device& device, const biogpu::ops::SigmoidGateGrad& op) {
  const GateGradArrays arrays{op.x.as<float>(),   op.gate.as<float>(),   op.d_out.as<float>(),
                              op.d_x.as<float>(), op.d_gate.as<float>(), op.x.size()};
  if (arrays.n == 0) return;
  device.stream().launch(sigmoid_gate_grad_kernel, row_blocks(arrays.n), kRowBlock, arrays);
}

}  // namespace biogpu::gpu::ops
