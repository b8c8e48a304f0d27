// Rows of a table, scaled, with positions added, and their normalisation.
//
// Shapes   see lib/ops/gather/embed.hpp.
// Mapping, Traffic, Result, Limits   those of layer_norm.hip, which reads the rows.
// Source   Vaswani et al. 2017, arXiv 1706.03762.
// Oracle   embed_ref, lib/ops/gather/embed_ref.cpp.
#include "lib/ops/gather/embed.hpp"

#include "gpu/ops/device.hpp"
#include "gpu/ops/normalisation/layer_norm.hpp"

namespace biogpu::gpu::ops {

void embed(Device& device, const biogpu::ops::Embed& op) {
  LayerNormArgs args;
  args.n_rows = op.ids.shape[0];
  args.d = static_cast<int>(op.table.shape[1]);
  args.x = rows_of(op.table);
  args.ids = op.ids.as<std::int32_t>();
  args.scale = op.scale.as<float>();
  args.position_table = rows_of(op.position_table);
  args.positions = op.positions.as<std::int32_t>();
  launch_layer_norm_targets(args, op, device.stream());
}

}  // namespace biogpu::gpu::ops
