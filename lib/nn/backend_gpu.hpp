#pragma once

#include <memory>

#include "lib/nn/backend.hpp"

namespace biogpu::nn {

// What a GPU backend offers to models; found through lib/core/gpu_backend.hpp. The function is that
// of make_gpu_backend().
struct GpuTable {
  static constexpr const char* kFeature = "nn";
  static constexpr int kVersion = 1;
  std::unique_ptr<Backend> (*make_backend)(int device, const BackendOptions& options);
};

extern const GpuTable kGpuTable;  // defined by the backend

}  // namespace biogpu::nn
