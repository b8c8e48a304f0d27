#pragma once

#include <cstddef>
#include <cstdint>

namespace biogpu::gpu {
class Stream;
}

namespace biogpu::gpu::kmer {

// Values cut into bins by their bits from rest_bits on, to be counted a bin at a time in shared
// memory. Device memory throughout.
struct BinsArgs {
  // [n], the first n_first and the others each sorted by their bits from rest_bits on.
  const std::uint64_t* values = nullptr;
  std::uint64_t n = 0;
  std::uint64_t n_first = 0;
  int rest_bits = 0;         // below 64
  std::uint32_t n_bins = 0;  // values >> rest_bits are below it
  // Written by launch_find_bins: where bins begin in both.
  std::uint64_t* begin = nullptr;  // [2][n_bins + 1]
  // Written by launch_count_bins, for a bin with so many values before it from there on: distinct
  // values in ascending order and how often each occurs.
  std::uint64_t* distinct = nullptr;      // [n]
  std::uint32_t* count = nullptr;         // [n]
  std::uint32_t* n_distinct = nullptr;    // [n_bins]
  const std::uint32_t* wanted = nullptr;  // the bins to count; null: all of them
  // Bins with more distinct values than a table takes are listed here and not counted.
  std::uint32_t* left = nullptr;            // [n_bins]
  std::uint32_t* n_left = nullptr;          // 0 before
  std::uint64_t* distinct_begin = nullptr;  // [n_bins + 1], written by launch_sum_bins
};

// Shared memory of a block that counts with a table of 2^table_bits slots.
std::size_t bin_table_bytes(int table_bits);

void launch_find_bins(const BinsArgs& args, Stream& stream);
// Counts n_wanted bins. A table takes some two thirds as many distinct values as it has slots,
// where the bits below rest_bits are spread evenly.
void launch_count_bins(const BinsArgs& args, std::uint32_t n_wanted, int table_bits,
                       Stream& stream);
// Where the distinct values of each bin go when they lie side by side.
void launch_sum_bins(const BinsArgs& args, Stream& stream);
// Puts them there.
void launch_gather_bins(const BinsArgs& args, std::uint64_t* distinct, std::uint32_t* count,
                        Stream& stream);

}  // namespace biogpu::gpu::kmer
