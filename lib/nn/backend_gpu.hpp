#pragma once

#include <memory>

#include "lib/nn/backend.hpp"

namespace biogpu::nn {

// The GPU backend's side of make_gpu_backend(); reached through GpuBackend.
std::unique_ptr<Backend> make_gpu_backend_of_device(int device, const BackendOptions& options);

}  // namespace biogpu::nn
