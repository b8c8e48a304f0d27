// Activations of torchmd-net's networks but SiLU, and their gradients, number by number.
//
// Shapes   see lib/models/tensornet/ops/activate.hpp.
// Mapping  one thread per number.
// Traffic  8 bytes a number, 12 for gradients; memory bound.
// Result   the device's expf, log1pf and tanhf.
// Source   own.
// Oracle   lib/models/tensornet/ops/activate_ref.cpp.
#include "lib/models/tensornet/ops/activate.hpp"

#include "gpu/ops/device.hpp"
#include "gpu/ops/row_threads.hpp"

#define BIOGPU_UNIT_FUNCTION __device__ __forceinline__
#include "lib/models/tensornet/ops/activation_unit.hpp"

namespace biogpu::gpu::tensornet {
namespace {

namespace model = biogpu::models::tensornet;
using ops::kRowBlock;
using ops::row_blocks;
using ops::thread_number;

__global__ __launch_bounds__(kRowBlock) void activate_kernel(float* out, const float* x,
                                                             model::Unit unit, std::int64_t n) {
  const std::int64_t i = thread_number();
  if (i < n) out[i] = model::UnitValue<float>(unit, x[i]).value;
}

__global__ __launch_bounds__(kRowBlock) void activate_grad_kernel(float* d_x, const float* x,
                                                                  const float* d_out,
                                                                  model::Unit unit,
                                                                  std::int64_t n) {
  const std::int64_t i = thread_number();
  if (i < n) d_x[i] = d_out[i] * model::UnitValue<float>(unit, x[i]).slope;
}

}  // namespace

void activate(ops::Device& device, const model::Activate& op) {
  const std::int64_t n = op.x.size();
  if (n == 0) return;
  device.stream().launch(activate_kernel, row_blocks(n), kRowBlock, op.out.as<float>(),
                         op.x.as<float>(), op.unit, n);
}

void activate_grad(ops::Device& device, const model::ActivateGrad& op) {
  const std::int64_t n = op.x.size();
  if (n == 0) return;
  device.stream().launch(activate_grad_kernel, row_blocks(n), kRowBlock, op.d_x.as<float>(),
                         op.x.as<float>(), op.d_out.as<float>(), op.unit, n);
}

}  // namespace biogpu::gpu::tensornet
