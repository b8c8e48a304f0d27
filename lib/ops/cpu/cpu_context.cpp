#include "lib/ops/cpu/cpu_context.hpp"

#include "lib/core/parallel_for.hpp"
#include "lib/ops/cpu/panel_work.hpp"
#include "lib/tensor/linear_shape.hpp"

namespace biogpu::ops {

tensor::Linear CpuContext::upload_linear(const tensor::Tensor& map, const tensor::Tensor& bias) {
  const tensor::Tensor weight = tensor::weight_matrix(map);
  tensor::Linear linear;
  linear.n_out = weight.shape[0];
  linear.n_in = weight.shape[1];
  auto* const packed = static_cast<float*>(
      allocate(static_cast<std::size_t>(packed_size(linear.n_out, linear.n_in)) * sizeof(float)));
  for_each(count_panels(linear.n_out),
           [&](std::int64_t panel) { pack_panel(weight, panel, packed); });
  linear.packed = packed;
  if (!bias.empty()) linear.bias = upload(bias, tensor::DType::f32);
  return linear;
}

std::unique_ptr<tensor::Context> make_cpu_context(int n_threads) {
  return std::make_unique<CpuContext>(
      arena_threads(static_cast<std::size_t>(std::max(1, n_threads))));
}

}  // namespace biogpu::ops
