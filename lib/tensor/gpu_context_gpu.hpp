#pragma once

#include <memory>
#include <span>

#include "lib/tensor/context.hpp"

namespace biogpu::tensor {

// What a GPU backend offers to models; found through lib/core/gpu_backend.hpp. The first function
// is that of make_gpu_context(). The others put a context in order with a stream of the program
// that calls us, the platform's handle or null for the default stream: a context's work begins when
// that of the stream is done, and the other way round.
struct GpuTable {
  static constexpr const char* kFeature = "tensor";
  std::unique_ptr<Context> (*make_context)(int device, const ContextOptions& options);
  void (*wait_for_stream)(Context& context, void* stream);
  void (*let_stream_wait)(void* stream, Context& context);
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
