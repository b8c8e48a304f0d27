#pragma once

#include "gpu/bwt/suffix_text.hpp"
#include "lib/bwt/fm/gpu_search.hpp"

namespace biogpu::bwt {

// The GPU backend's side of the functions in gpu_search.hpp; reached through GpuBackend.
void sort_suffixes_of_backend(int device, const GpuSortJob& job, GpuSortReport& report);
std::unique_ptr<GpuSearch> make_search_of_backend(int device, const FmIndex& index);

// What the device's sorters are given; the words stay in host memory.
gpu::bwt::SuffixText device_text(const SuffixSource& source);

}  // namespace biogpu::bwt
