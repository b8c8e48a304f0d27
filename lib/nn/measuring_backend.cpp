#include "lib/nn/measuring_backend.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

namespace biogpu::nn {
namespace {

class MeasuringBackend final : public Backend {
 public:
  explicit MeasuringBackend(Precision precision) : precision_(precision) {}

  std::string name() const override { return "measuring"; }
  Precision precision() const override { return precision_; }
  void* allocate(std::size_t) override { return nullptr; }
  void release(void*) override {}
  std::uint64_t free_bytes() override { return UINT64_MAX; }
  Tensor upload(const Tensor& host, DType as) override {
    Tensor copy = host;
    copy.dtype = as;
    return copy;
  }
  Linear upload_linear(const Tensor& weight, const Tensor& bias) override {
    Linear linear;
    linear.n_out = weight.shape[0];
    linear.n_in = weight.shape[1];
    linear.weight = weight;
    linear.bias = bias;
    return linear;
  }
  Batch upload_batch(const HostBatch& host, Arena& arena) override {
    Batch batch;
    batch.n_tokens = static_cast<std::int64_t>(host.ids.size());
    batch.n_sequences = static_cast<std::int64_t>(host.starts.size()) - 1;
    batch.starts = host.starts;
    for (std::size_t s = 0; s + 1 < host.starts.size(); ++s)
      batch.max_length =
          std::max<std::int64_t>(batch.max_length, host.starts[s + 1] - host.starts[s]);
    batch.ids = arena.take(DType::i32, {batch.n_tokens});
    batch.positions = arena.take(DType::i32, {batch.n_tokens});
    batch.device_starts = arena.take(DType::i32, {batch.n_sequences + 1});
    if (!host.scale.empty()) batch.scale = arena.take(DType::f32, {batch.n_tokens});
    return batch;
  }
  void copy_in(const Tensor&, const void*) override {}
  void copy_out(float*, const Tensor&) override {}
  void synchronize() override {}
  void embed(const Embed&, const Batch&) override {}
  void add_layer_norm(const AddLayerNorm&) override {}
  void gemm(const Gemm&) override {}
  void qkv_rotary(const QkvRotary&, const Batch&) override {}
  void attention(const Attention&, const Batch&) override {}
  void accumulate_contacts(const Contacts&, const Batch&) override {}
  void finish_contacts(const FinishContacts&, const Batch&) override {}
  void clear(const Tensor&) override {}
  void gather_rows(const Tensor&, const Tensor&, const Tensor&) override {}
  void log_softmax(const Tensor&) override {}
  void tanh(const Tensor&) override {}
  void mean_pool(const Tensor&, const Tensor&, const Batch&) override {}

 private:
  const Precision precision_;
};

}  // namespace

std::unique_ptr<Backend> make_measuring_backend(Precision precision) {
  return std::make_unique<MeasuringBackend>(precision);
}

}  // namespace biogpu::nn
