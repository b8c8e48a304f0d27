// A residual sum and its normalisation.
//
// Shapes   see lib/ops/normalisation/add_layer_norm.hpp.
// Mapping, Traffic, Result, Limits   those of gpu/ops/normalisation/layer_norm.hip.
// Source   Ba, Kiros and Hinton 2016, arXiv 1607.06450.
// Oracle   add_layer_norm_ref, lib/ops/normalisation/add_layer_norm_ref.cpp.
#include "lib/ops/normalisation/add_layer_norm.hpp"

#include "gpu/ops/device.hpp"
#include "gpu/ops/normalisation/layer_norm.hpp"

namespace biogpu::gpu::ops {

void add_layer_norm(Device& device, const biogpu::ops::AddLayerNorm& op) {
  LayerNormArgs args;
  args.n_rows = op.x.shape[0];
  args.d = static_cast<int>(op.x.shape[1]);
  args.x = rows_of(op.x);
  args.add = rows_of(op.add);
  launch_layer_norm_targets(args, op, device.stream());
}

}  // namespace biogpu::gpu::ops
