// Triangle multiplication: Hopper's kernels where they suit, else a chain of other operations.
//
// Shapes   see lib/ops/triangle/triangle_product.hpp.
// Mapping, Traffic   those of triangle_product_warpgroup.hip, or of the operations in the chain.
// Result   the same for every grid. Which way a product goes depends on the device, its precision
//          and the shape alone.
// Limits   those of the operations.
// Source   Jumper et al. 2021, doi 10.1038/s41586-021-03819-2, supplement 1.6.5.
// Oracle   triangle_product_ref, lib/ops/triangle/triangle_product_ref.cpp.
#include "lib/ops/triangle/triangle_product.hpp"

#include "gpu/ops/device.hpp"
#include "gpu/ops/gemm/gemm_runner.hpp"
#include "gpu/ops/triangle/triangle_product_warpgroup.hpp"
#include "gpu/rt/error.hpp"
#include "lib/ops/triangle/triangle_product_steps.hpp"

namespace biogpu::gpu::ops {

void add_layer_norm(Device& device, const biogpu::ops::AddLayerNorm& op);
void gemm(Device& device, const biogpu::ops::Gemm& op);
void map(Device& device, const biogpu::ops::Map& op);
void matmul(Device& device, const biogpu::ops::Matmul& op);

namespace {

using biogpu::ops::TriangleProduct;
using tensor::DType;

struct RunOnGpu {
  Device& device;
  void operator()(const biogpu::ops::AddLayerNorm& op) const { add_layer_norm(device, op); }
  void operator()(const biogpu::ops::Gemm& op) const { gemm(device, op); }
  void operator()(const biogpu::ops::Map& op) const { map(device, op); }
  void operator()(const biogpu::ops::Matmul& op) const { matmul(device, op); }
};

// Whether Hopper's kernels computed it: for pairs and results of one type. Sums of fp16 would leave
// its range.
bool multiply_by_warpgroups(Device& device, const TriangleProduct& op) {
  const std::int64_t n = op.z.shape[0], c = op.z.shape[2];
  const auto& projections = *static_cast<const DeviceLinear*>(op.projections->packed);
  const auto& map_out = *static_cast<const DeviceLinear*>(op.map_out->packed);
  constexpr std::int64_t kMostTokens = 1 << 14;
  if (device.precision() != tensor::Precision::bf16 || op.out.dtype != op.z.dtype ||
      op.map_out->n_in != c || n > kMostTokens || projections.k != c || map_out.k != c ||
      op.norm_in.weight.empty() || op.norm_in.bias.empty() || op.norm_out.weight.empty() ||
      op.norm_out.bias.empty())
    return false;
  TriangleProductArgs args;
  args.n = static_cast<int>(n);
  args.c = static_cast<int>(c);
  args.outgoing = op.outgoing;
  args.wide_pairs = op.z.dtype == DType::f32;
  args.z = op.z.data;
  args.mask = op.mask.empty() ? nullptr : op.mask.as<float>();
  args.weight_in = op.norm_in.weight.as<float>();
  args.bias_in = op.norm_in.bias.as<float>();
  args.eps_in = op.norm_in.eps;
  args.weight_out = op.norm_out.weight.as<float>();
  args.bias_out = op.norm_out.bias.as<float>();
  args.eps_out = op.norm_out.eps;
  args.projections = projections.weight;
  args.projection_bias = projections.bias;
  args.map_out = map_out.weight;
  args.map_out_bias = map_out.bias;
  args.residual = rows_of(op.residual);
  args.out = rows_of(op.out);
  const std::int64_t pairs = n * args.pitch();
  biogpu::ops::WorkspaceCutter memory(op.workspace);
  args.sides = memory.take(DType::bf16, {2 * c, pairs}).as<std::uint16_t>();
  args.sums = memory.take(DType::bf16, {c, pairs}).as<std::uint16_t>();
  args.folded = memory.take(DType::bf16, {c, c}).as<std::uint16_t>();
  args.vectors = memory.take(DType::f32, {TriangleProductArgs::kVectors, c}).as<float>();
  return memory.has_room() && launch_triangle_product_warpgroup(args, device.stream());
}

}  // namespace

void triangle_product(Device& device, const TriangleProduct& op) {
  if (op.out.size() == 0 || multiply_by_warpgroups(device, op)) return;
  if (!triangle_product_steps(op, tensor::operand_type(device.precision()), RunOnGpu{device}))
    throw DeviceError(DeviceError::Kind::failed, "triangle_product: the workspace is too small");
}

}  // namespace biogpu::gpu::ops
