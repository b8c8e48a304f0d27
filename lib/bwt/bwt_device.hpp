#pragma once

#include <cstdint>
#include <memory>

#include "lib/bwt/fm/fm_search.hpp"
#include "lib/bwt/suffix/gpu_sort.hpp"

namespace biogpu::bwt {

// Searches of an index that stays on one GPU. Calls wait for each other.
class GpuSearch : public ExactSearch {
 public:
  virtual double device_seconds() const = 0;
  virtual std::uint64_t device_bytes() const = 0;
};

// What a GPU backend offers to the index of a text; found through lib/core/gpu_backend.hpp. The
// functions are those of sort_suffixes_gpu() and make_gpu_search().
struct GpuTable {
  static constexpr const char* kFeature = "bwt";
  void (*sort_suffixes)(int device, const GpuSortJob& job, GpuSortReport& report);
  std::unique_ptr<GpuSearch> (*make_search)(int device, const FmIndex& index);
};

extern const GpuTable kGpuTable;  // defined by the backend

// index must outlive the result.
std::unique_ptr<GpuSearch> make_gpu_search(int device, const FmIndex& index);

}  // namespace biogpu::bwt
