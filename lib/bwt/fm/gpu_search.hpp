#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lib/bwt/fm/fm_search.hpp"
#include "lib/bwt/packed_text.hpp"
#include "lib/core/big_array.hpp"

namespace biogpu::bwt {

// Searches of an index that stays on one GPU. Calls wait for each other.
class GpuSearch : public ExactSearch {
 public:
  virtual double device_seconds() const = 0;
  virtual std::uint64_t device_bytes() const = 0;
};

// Suffixes to be sorted on a GPU, and where their positions go.
struct GpuSortJob {
  const SuffixSource& source;
  void* sa = nullptr;  // as many as the text has symbols, of 4 bytes below 2^32 - 1, else 8
  int index_bytes = 4;
  int n_threads = 1;                   // that take the positions from the device
  std::uint64_t most_rows = 0;         // the largest block of the array; 0: what the device holds
  std::uint64_t max_device_bytes = 0;  // 0: what is free
};

struct GpuSortReport {
  int n_rank_rounds = 0;
  std::uint64_t n_blocks = 0;  // 1: all at once
  double device_s = 0;         // without the copy of the positions
  double copy_s = 0;
  std::uint64_t device_bytes = 0;
  std::vector<SuffixGroup> left;  // what the device left tied
};

// What a GPU backend offers to the index of a text; found through lib/core/gpu_backend.hpp. The
// functions are those of sort_suffixes_gpu() and make_gpu_search().
struct GpuTable {
  static constexpr const char* kFeature = "bwt";
  static constexpr int kVersion = 1;
  void (*sort_suffixes)(int device, const GpuSortJob& job, GpuSortReport& report);
  std::unique_ptr<GpuSearch> (*make_search)(int device, const FmIndex& index);
};

extern const GpuTable kGpuTable;  // defined by the backend

// Throws Error{device_memory} where device memory is too small even block by block.
void sort_suffixes_gpu(int device, const GpuSortJob& job, GpuSortReport& report);

// index must outlive the result.
std::unique_ptr<GpuSearch> make_gpu_search(int device, const FmIndex& index);

}  // namespace biogpu::bwt
