#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>

#include "lib/nn/backend.hpp"

namespace biogpu::nn {

// What backends in host memory share: memory, copies, and operations that only move numbers. All
// numbers are fp32.
class HostBackend : public Backend {
 public:
  Precision precision() const override { return Precision::fp32; }
  void* allocate(std::size_t bytes) override;
  void release(void* memory) override;
  std::uint64_t free_bytes() override;
  Tensor upload(const Tensor& host, DType as) override;
  Linear upload_linear(const Tensor& weight, const Tensor& bias) override;
  Batch upload_batch(const HostBatch& host, Arena& arena) override;
  void copy_in(const Tensor& to, const void* host) override;
  void copy_out(float* host, const Tensor& from) override;
  void synchronize() override {}
  void clear(const Tensor& tensor) override;
  void gather_rows(const Tensor& to, const Tensor& from, const Tensor& rows) override;

 private:
  struct Free {
    void operator()(void* memory) const;
  };
  std::unordered_map<void*, std::unique_ptr<void, Free>> blocks_;
};

}  // namespace biogpu::nn
