#pragma once

#include <cstdint>
#include <memory>

#include "lib/infer/mpnn/work.hpp"

namespace biogpu::infer::mpnn {

// The GPU backend's side of make_gpu_model(); reached through GpuBackend.
std::unique_ptr<GpuModel> make_gpu_model_of_backend(int device, const Weights& weights,
                                                    std::uint64_t max_device_bytes);

}  // namespace biogpu::infer::mpnn
