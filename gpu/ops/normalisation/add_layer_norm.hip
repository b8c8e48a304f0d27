// A residual sum and its normalisation: layer, RMS or group norm.
//
// Shapes   see lib/ops/normalisation/add_layer_norm.hpp.
// Mapping, Traffic, Result, Limits   those of gpu/ops/normalisation/layer_norm.hip.
// Source   those named in lib/ops/normalisation/add_layer_norm.hpp.
// Oracle   add_layer_norm_ref, lib/ops/normalisation/add_layer_norm_ref.cpp.
#include "lib/ops/normalisation/add_layer_norm.hpp"

#include "gpu/ops/device.hpp"
#include "gpu/ops/normalisation/layer_norm.hpp"
#include "gpu/ops/row_threads.hpp"

namespace biogpu::gpu::ops {
namespace {

__global__ void fill_ones_kernel(float* ones, int n) {
  const int i = static_cast<int>(blockIdx.x * kRowBlock + threadIdx.x);
  if (i < n) ones[i] = 1.0f;
}

// Weights and biases of norms that have none: the kernels read them as any others.
class NoAffine {
 public:
  explicit NoAffine(Device& device) : device_(device) {}

  void complete(tensor::Norm& norm, std::int64_t d) {
    const auto n = static_cast<std::size_t>(d);
    if (ones_.size() < n) {
      device_.grow(ones_, n);
      device_.grow(zeros_, n);
      device_.stream().launch(fill_ones_kernel, row_blocks(d), kRowBlock, ones_.data(),
                              static_cast<int>(d));
      device_.stream().fill(zeros_.data(), 0, n * sizeof(float));
    }
    if (norm.weight.empty()) norm.weight = {ones_.data(), tensor::DType::f32, {d}};
    if (norm.bias.empty()) norm.bias = {zeros_.data(), tensor::DType::f32, {d}};
  }

 private:
  Device& device_;
  DeviceBuffer<float> ones_, zeros_;
};

}  // namespace

void add_layer_norm(Device& device, const biogpu::ops::AddLayerNorm& op) {
  LayerNormArgs args;
  args.n_rows = op.x.shape[0];
  args.d = static_cast<int>(op.x.shape[1]);
  args.x = rows_of(op.x);
  args.add = rows_of(op.add);
  args.centred = op.kind == biogpu::ops::NormKind::layer;
  args.n_groups = static_cast<int>(op.n_groups);
  const bool normalised = !op.out.empty() || !op.out_operand.empty();
  if (args.n_rows == 0 || !normalised || (!op.norm.weight.empty() && !op.norm.bias.empty()))
    return launch_layer_norm_targets(args, op, device.stream());
  biogpu::ops::AddLayerNorm with_affine = op;
  device.state<NoAffine>().complete(with_affine.norm, args.d);
  launch_layer_norm_targets(args, with_affine, device.stream());
}

}  // namespace biogpu::gpu::ops
