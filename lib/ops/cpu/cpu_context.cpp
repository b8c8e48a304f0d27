#include "lib/ops/cpu/cpu_context.hpp"

#include <new>

#include "lib/ops/cpu/panel_work.hpp"

namespace biogpu::ops {

float* Scratch::reserve(std::int64_t n) {
  if (n > size_) {
    memory_.reset();
    size_ = 0;
    const auto bytes = (static_cast<std::size_t>(n) * sizeof(float) + 63) / 64 * 64;
    memory_.reset(static_cast<float*>(std::aligned_alloc(64, bytes)));
    if (memory_ == nullptr) throw std::bad_alloc();
    size_ = n;
  }
  return memory_.get();
}

tensor::Linear CpuContext::upload_linear(const tensor::Tensor& weight, const tensor::Tensor& bias) {
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
  return std::make_unique<CpuContext>(n_threads);
}

}  // namespace biogpu::ops
