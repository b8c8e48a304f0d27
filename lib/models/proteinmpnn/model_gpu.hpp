#pragma once

#include <cstdint>
#include <memory>

#include "lib/models/proteinmpnn/work.hpp"

namespace biogpu::models::proteinmpnn {

// What a GPU backend offers to ProteinMPNN; found through lib/core/gpu_backend.hpp. The function is
// that of make_gpu_model().
struct GpuTable {
  static constexpr const char* kFeature = "proteinmpnn";
  static constexpr int kVersion = 1;
  std::unique_ptr<GpuModel> (*make_model)(int device, const Weights& weights,
                                          std::uint64_t max_device_bytes);
};

extern const GpuTable kGpuTable;  // defined by the backend

}  // namespace biogpu::models::proteinmpnn
