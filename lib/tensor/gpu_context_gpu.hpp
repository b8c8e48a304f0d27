#pragma once

#include <memory>
#include <span>

#include "lib/tensor/context.hpp"

namespace biogpu::tensor {

// What a GPU backend offers to models; found through lib/core/gpu_backend.hpp. The function is that
// of make_gpu_context().
struct GpuTable {
  static constexpr const char* kFeature = "tensor";
  std::unique_ptr<Context> (*make_context)(int device, const ContextOptions& options);
};

extern const GpuTable kGpuTable;  // defined by the backend

// The operations of lib/ops/ops.def and of the models, as the backend has them
// (lib/gpu_backend/ops_gpu.cpp).
struct NamedGpuOp {
  const char* name;  // "ops.gemm", "esm2.finish_contacts"
  GpuOp run;
};
std::span<const NamedGpuOp> list_gpu_ops();

}  // namespace biogpu::tensor
