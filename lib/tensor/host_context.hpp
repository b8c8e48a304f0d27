#pragma once

#include <cstdint>
#include <unordered_map>

#include "lib/core/aligned_buffer.hpp"
#include "lib/tensor/context.hpp"

namespace biogpu::tensor {

// What contexts in host memory share: memory and copies. All numbers are fp32.
class HostContext : public Context {
 public:
  Precision precision() const override { return Precision::fp32; }
  void* allocate(std::size_t bytes) override;
  void release(void* memory) override;
  std::uint64_t free_bytes() override;
  Tensor upload(const Tensor& host, DType as) override;
  Linear upload_linear(const Tensor& weight, const Tensor& bias) override;
  Ragged upload_ragged(const std::vector<std::int32_t>& starts, Arena& arena) override;
  void copy_in(const Tensor& to, const void* host) override;
  void copy_out(float* host, const Tensor& from) override;
  void copy_out(std::int32_t* host, const Tensor& from) override;
  void synchronize() override {}

 private:
  std::unordered_map<void*, MallocPtr<void>> blocks_;
};

}  // namespace biogpu::tensor
