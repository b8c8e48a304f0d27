#pragma once

#include <cstdint>
#include <vector>

#include "lib/bwt/suffix/suffix_array.hpp"

namespace biogpu::bwt {

// Suffixes to be sorted on a GPU, and where their positions go.
struct GpuSortJob {
  const SuffixSource& source;
  void* sa = nullptr;  // as many as the text has symbols, of 4 bytes below 2^32 - 1, else 8
  int index_bytes = 4;
  int n_threads = 1;                   // that take the positions from the device
  std::uint64_t max_rows = 0;          // the largest block of the array; 0: what the device holds
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

// Defined with the table of the GPU backend, lib/bwt/bwt_device.cpp.
// Throws Error{device_memory} where device memory is too small even block by block.
void sort_suffixes_gpu(int device, const GpuSortJob& job, GpuSortReport& report);

}  // namespace biogpu::bwt
