#pragma once

#include <cstdint>

namespace biogpu::gpu {
class Stream;
}

namespace biogpu::gpu::kmer {

struct FinishSortFlags {
  std::uint32_t n_groups = 0;  // that were out of order
  std::uint32_t gave_up = 0;   // not 0: some are still
};

// Values that are sorted by their bits from low_bits on, to be brought into full order. Device
// memory throughout.
struct FinishSortArgs {
  std::uint64_t* values = nullptr;  // [n]
  std::uint64_t n = 0;
  int low_bits = 0;                 // 1 to 63
  std::uint64_t* groups = nullptr;  // [max_groups], room to work in
  std::uint32_t max_groups = 0;
  FinishSortFlags* flags = nullptr;  // 0 before
};

// Sorts each group of values that agree from low_bits on and are out of order. Gives up where there
// are more than max_groups of them or one is long: the caller then sorts by all bits.
void launch_finish_sort(const FinishSortArgs& args, Stream& stream);

}  // namespace biogpu::gpu::kmer
