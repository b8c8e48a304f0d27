#include <algorithm>
#include <cstdint>
#include <string>

#include "lib/tensor/context.hpp"
#include "lib/tensor/linear_shape.hpp"

namespace biogpu::tensor {
namespace {

class DryRunContext final : public Context {
 public:
  explicit DryRunContext(Precision precision) : precision_(precision) {}

  Kind kind() const override { return Kind::dry_run; }
  std::string name() const override { return "dry run"; }
  Precision precision() const override { return precision_; }
  void* allocate(std::size_t) override { return nullptr; }
  void release(void*) override {}
  std::uint64_t free_bytes() override { return UINT64_MAX; }
  Tensor upload(const Tensor& host, DType as) override {
    Tensor copy = host;
    copy.dtype = as;
    return copy;
  }
  Linear upload_linear(const Tensor& map, const Tensor& bias) override {
    const Tensor weight = weight_matrix(map);
    Linear linear;
    linear.n_out = weight.shape[0];
    linear.n_in = weight.shape[1];
    linear.weight = weight;
    linear.bias = bias;
    return linear;
  }
  Ragged upload_ragged(const std::vector<std::int32_t>& starts, Arena& arena) override {
    Ragged ragged;
    ragged.n_rows = starts.back();
    ragged.n_segments = static_cast<std::int64_t>(starts.size()) - 1;
    ragged.starts = starts;
    for (std::int64_t s = 0; s < ragged.n_segments; ++s)
      ragged.max_length = std::max(ragged.max_length, ragged.length(s));
    ragged.positions = arena.take(DType::i32, {ragged.n_rows});
    ragged.device_starts = arena.take(DType::i32, {ragged.n_segments + 1});
    return ragged;
  }
  void copy_in(const Tensor&, const void*) override {}
  void copy_out(float*, const Tensor&) override {}
  void copy_out(std::int32_t*, const Tensor&) override {}
  void synchronize() override {}

 private:
  const Precision precision_;
};

}  // namespace

std::unique_ptr<Context> make_dry_run_context(Precision precision) {
  return std::make_unique<DryRunContext>(precision);
}

}  // namespace biogpu::tensor
