// Rotary positions of heads, in place.
//
// Shapes   see lib/ops/attention/rotate_heads.hpp.
// Mapping  that of rotary_kernel, gpu/ops/attention/qkv_rotary.hip.
// Traffic  the rotated numbers read and written, angles from L2; memory bound.
// Result   two products and a sum for each number.
// Source   Su et al. 2021, arXiv 2104.09864.
// Oracle   rotate_heads_ref, lib/ops/attention/rotate_heads_ref.cpp.
#include "lib/ops/attention/rotate_heads.hpp"

#include "gpu/ops/device.hpp"
#include "gpu/ops/rotary.hpp"

namespace biogpu::gpu::ops {

void rotate_heads(Device& device, const biogpu::ops::RotateHeads& op) {
  RotaryShape shape;
  shape.head = static_cast<int>(op.x.shape[2]);
  shape.n_turned = static_cast<int>(op.rotary.cos_sin.shape[1]);
  shape.n_heads = static_cast<int>(op.x.shape[1]);
  launch_rotary(rows_of(op.x), op.rotary.cos_sin.as<float>(), op.positions.as<std::int32_t>(),
                shape, op.x.shape[0], device.stream());
}

}  // namespace biogpu::gpu::ops
