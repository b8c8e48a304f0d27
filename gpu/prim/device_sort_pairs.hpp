#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/rt/stream.hpp"

namespace biogpu::gpu {

// Two arrays of keys and two of values in device memory, n of each; what is sorted lies at
// `current`, the other pair is room to sort into. A sort flips `current` as it pleases.
struct SortPairs {
  std::uint64_t* keys[2] = {nullptr, nullptr};
  std::uint32_t* values[2] = {nullptr, nullptr};
  int current = 0;
};

// Stable ascending radix sort of n pairs by bits [0, n_bits) of their keys. workspace holds at
// least sort_pairs_workspace_bytes(n).
std::size_t sort_pairs_workspace_bytes(std::size_t n);
void sort_pairs(SortPairs& pairs, std::size_t n, int n_bits, void* workspace,
                std::size_t workspace_bytes, Stream& stream);

// Running maximum and running sum of n values, each including its own; in place is allowed.
// workspace holds at least scan_workspace_bytes(n).
std::size_t scan_workspace_bytes(std::size_t n);
void scan_max(const std::uint32_t* in, std::uint32_t* out, std::size_t n, void* workspace,
              std::size_t workspace_bytes, Stream& stream);
void scan_sum(const std::uint32_t* in, std::uint32_t* out, std::size_t n, void* workspace,
              std::size_t workspace_bytes, Stream& stream);

}  // namespace biogpu::gpu
