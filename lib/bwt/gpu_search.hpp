#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lib/bwt/big_array.hpp"
#include "lib/bwt/fm_search.hpp"
#include "lib/bwt/packed_text.hpp"

namespace biogpu::bwt {

// Searches of an index that stays on one GPU. Calls wait for each other.
class GpuSearch : public ExactSearch {
 public:
  virtual double device_seconds() const = 0;
  virtual std::uint64_t device_bytes() const = 0;
};

// What a GPU's suffix sort gives back beside the array.
struct GpuSortReport {
  int n_rank_rounds = 0;
  double device_s = 0;
  std::uint64_t device_bytes = 0;
};

// True where the text can be sorted on a GPU: 2 bits a symbol, fewer than 2^32 - 1 of them.
bool can_sort_on_gpu(const PackedText& text);

// The suffix array of a text without ends. Throws Error{device_memory} where it does not fit.
BigArray<std::uint32_t> sort_suffixes_gpu(int device, const PackedText& text,
                                          GpuSortReport* report);

// index must outlive the result.
std::unique_ptr<GpuSearch> make_gpu_search(int device, const FmIndex& index);

}  // namespace biogpu::bwt
