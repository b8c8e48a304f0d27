#pragma once

#include <cstdint>
#include <memory>

#include "lib/kmer/device/device_counter.hpp"
#include "lib/kmer/device/device_lookup.hpp"

namespace biogpu::kmer {

// What a GPU backend offers to k-mers; found through lib/core/gpu_backend.hpp. The functions are
// those of make_device_counter() and make_device_lookup(), for an order that is a bijection.
struct GpuTable {
  static constexpr const char* kFeature = "kmer";
  std::unique_ptr<DeviceCounter> (*make_counter)(int device, const DeviceCounterOptions& options);
  std::unique_ptr<DeviceLookup> (*make_lookup)(int device, const KeyOrder& order,
                                               std::uint64_t n_keys);
};

extern const GpuTable kGpuTable;  // defined by the backend

}  // namespace biogpu::kmer
