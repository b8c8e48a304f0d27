#pragma once

#include <cstdint>
#include <memory>

#include "lib/align/align.hpp"

namespace biogpu::align {

// The GPU backend's side of make_gpu_aligner(); reached through GpuBackend::make_aligner.
std::unique_ptr<GpuAligner> make_gpu_aligner_of_backend(int device, const Options& options,
                                                        std::uint64_t max_device_bytes);

}  // namespace biogpu::align
