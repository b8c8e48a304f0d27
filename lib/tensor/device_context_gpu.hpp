#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "gpu/ops/device.hpp"
#include "gpu/ops/gemm/gemm_runner.hpp"
#include "gpu/rt/buffer.hpp"
#include "lib/tensor/context.hpp"
#include "lib/tensor/graph_cache_gpu.hpp"
#include "lib/tensor/pinned_pool_gpu.hpp"

namespace biogpu::tensor {

// One GPU: each operation queues one kernel of gpu/ops or gpu/models, or a product of the vendor's
// library with a kernel behind it.
class DeviceContext final : public Context {
 public:
  DeviceContext(int device, const ContextOptions& options);
  ~DeviceContext() override;

  Kind kind() const override { return Kind::gpu; }
  std::string name() const override;
  Precision precision() const override { return options_.precision; }
  gpu::ops::Device& device() { return device_; }

  // device_context_gpu.cpp: memory, results, passes.
  void* allocate(std::size_t bytes) override;
  void release(void* memory) override;
  std::uint64_t free_bytes() override;
  void copy_out(float* host, const Tensor& from) override;
  void copy_out(std::int32_t* host, const Tensor& from) override;
  void synchronize() override;
  std::shared_ptr<float> host_memory(std::size_t n) override;
  void capture(std::uint64_t key, const std::function<void()>& body) override;
  double captured_seconds() override;
  // GpuTable's, for a stream of another program.
  void wait_for_stream(void* foreign);
  void let_stream_wait(void* foreign);
  std::uint64_t peak_device_bytes() const override { return peak_bytes_; }
  GpuOp gpu_op(std::string_view name) override;

  // uploads_gpu.cpp: weights and batches.
  Tensor upload(const Tensor& host, DType as) override;
  Linear upload_linear(const Tensor& weight, const Tensor& bias) override;
  Ragged upload_ragged(const std::vector<std::int32_t>& starts, Arena& arena) override;
  void copy_in(const Tensor& to, const void* host) override;

 private:
  gpu::Stream& stream() { return device_.stream(); }

  const int index_;
  const ContextOptions options_;
  gpu::ops::Device device_;
  std::unordered_map<void*, std::size_t> allocated_;
  std::uint64_t allocated_bytes_ = 0, peak_bytes_ = 0;
  std::vector<std::unique_ptr<gpu::ops::DeviceLinear>> linears_;
  std::vector<gpu::DeviceBuffer<float>> results_;  // until synchronize()
  GraphCache graphs_;
  PinnedPool pinned_;
};

}  // namespace biogpu::tensor
