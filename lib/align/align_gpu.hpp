#pragma once

#include <cstdint>
#include <memory>

#include "lib/align/align.hpp"
#include "lib/align/search.hpp"

namespace biogpu::align {

// What a GPU backend offers to alignment; found through lib/core/gpu_backend.hpp. The functions are
// those of make_gpu_aligner() and make_gpu_searcher().
struct GpuTable {
  static constexpr const char* kFeature = "align";
  std::unique_ptr<GpuAligner> (*make_aligner)(int device, const Options& options,
                                              std::uint64_t max_device_bytes);
  std::unique_ptr<GpuSearcher> (*make_searcher)(int device, const SequenceSet& targets,
                                                const Options& options, const SearchOptions& search,
                                                std::uint64_t max_device_bytes);
};

// Defined by the backend.
extern const GpuTable kGpuTable;
std::unique_ptr<GpuAligner> make_device_aligner(int device, const Options& options,
                                                std::uint64_t max_device_bytes);
std::unique_ptr<GpuSearcher> make_device_searcher(int device, const SequenceSet& targets,
                                                  const Options& options,
                                                  const SearchOptions& search,
                                                  std::uint64_t max_device_bytes);

}  // namespace biogpu::align
