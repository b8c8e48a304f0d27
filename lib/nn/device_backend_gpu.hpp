#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "gpu/nn/layer_norm.hpp"
#include "gpu/rt/buffer.hpp"
#include "gpu/rt/stream.hpp"
#include "lib/nn/backend.hpp"
#include "lib/nn/device_gpu.hpp"
#include "lib/nn/recorded_gpu.hpp"
#include "lib/nn/small_encoder_gpu.hpp"

namespace biogpu::nn {

// The operations of lib/nn/backend.hpp on one GPU: each queues one kernel of gpu/nn, or a product
// of the vendor's library with a kernel behind it.
class DeviceBackend final : public Backend {
 public:
  DeviceBackend(int device, const BackendOptions& options);
  ~DeviceBackend() override;

  std::string name() const override;
  Precision precision() const override { return options_.precision; }

  // backend_gpu.cpp: memory, results, passes.
  void* allocate(std::size_t bytes) override;
  void release(void* memory) override;
  std::uint64_t free_bytes() override;
  void copy_out(float* host, const Tensor& from) override;
  void synchronize() override;
  void run_captured(std::uint64_t key, const std::function<void()>& body) override;
  double captured_seconds() override;
  std::uint64_t peak_device_bytes() const override { return peak_bytes_; }

  // uploads_gpu.cpp: weights and batches.
  Tensor upload(const Tensor& host, DType as) override;
  Linear upload_linear(const Tensor& weight, const Tensor& bias) override;
  Batch upload_batch(const HostBatch& host, Arena& arena) override;
  void copy_in(const Tensor& to, const void* host) override;

  // small_encoder_gpu.cpp.
  bool encode(const Encoder& op, const Batch& batch) override;

  // operations_gpu.cpp.
  void embed(const Embed& op, const Batch& batch) override;
  void add_layer_norm(const AddLayerNorm& op) override;
  void gemm(const Gemm& op) override;
  void qkv_rotary(const QkvRotary& op, const Batch& batch) override;
  void attention(const Attention& op, const Batch& batch) override;
  void accumulate_contacts(const Contacts& op, const Batch& batch) override;
  void finish_contacts(const FinishContacts& op, const Batch& batch) override;
  void clear(const Tensor& tensor) override;
  void gather_rows(const Tensor& to, const Tensor& from, const Tensor& rows) override;
  void log_softmax(const Tensor& x) override;
  void tanh(const Tensor& x) override;
  void mean_pool(const Tensor& out, const Tensor& x, const Batch& batch) override;

 private:
  void load_plan(const Batch& batch);
  void normalise(gpu::nn::LayerNormArgs& args, const Norm& norm, const Tensor& sum,
                 const Tensor& out, const Tensor& out_operand);

  const int device_;
  const BackendOptions options_;
  gpu::Stream stream_;
  ProductEngine products_;
  SmallEncoderEngine small_;
  Staging staging_;
  DevicePlan plan_;
  std::unordered_map<void*, std::size_t> allocated_;
  std::uint64_t allocated_bytes_ = 0, peak_bytes_ = 0;
  std::vector<std::unique_ptr<DeviceLinear>> linears_;
  std::vector<gpu::DeviceBuffer<float>> results_;  // until synchronize()
  gpu::DeviceBuffer<float> shares_;
  RecordedPasses passes_;
};

}  // namespace biogpu::nn
