#pragma once

#include <cstdint>
#include <memory>

#include "lib/kmer/gpu_counter.hpp"
#include "lib/kmer/gpu_lookup.hpp"

namespace biogpu::kmer {

// What a GPU backend offers to k-mers; found through lib/core/gpu_backend.hpp. The functions are
// those of make_gpu_counter() and make_gpu_lookup(), for an order that is a bijection.
struct GpuTable {
  static constexpr const char* kFeature = "kmer";
  static constexpr int kVersion = 1;
  std::unique_ptr<GpuCounter> (*make_counter)(int device, const GpuCountOptions& options);
  std::unique_ptr<GpuLookup> (*make_lookup)(int device, const KeyOrder& order,
                                            std::uint64_t n_keys);
};

extern const GpuTable kGpuTable;  // defined by the backend

}  // namespace biogpu::kmer
