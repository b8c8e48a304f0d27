#pragma once

#include <cstdint>
#include <memory>

#include "lib/align/search.hpp"

namespace biogpu::align {

// The GPU backend's side of make_gpu_searcher(); reached through GpuBackend::make_searcher.
std::unique_ptr<GpuSearcher> make_gpu_searcher_of_backend(int device, const SequenceSet& targets,
                                                          const Options& options,
                                                          const SearchOptions& search,
                                                          std::uint64_t max_device_bytes);

}  // namespace biogpu::align
