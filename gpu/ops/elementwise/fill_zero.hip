// Zeros.
//
// Shapes   see lib/ops/elementwise/fill_zero.hpp.
// Mapping  the runtime's fill.
// Traffic  each number once; memory bound.
// Result   exact.
// Source   own.
// Oracle   fill_zero_ref, lib/ops/elementwise/fill_zero_ref.cpp.
#include "lib/ops/elementwise/fill_zero.hpp"

#include "gpu/ops/device.hpp"

namespace biogpu::gpu::ops {

void fill_zero(Device& device, const biogpu::ops::FillZero& op) {
  device.stream().fill(op.x.data, 0, op.x.bytes());
}

}  // namespace biogpu::gpu::ops
