#pragma once

#include <cstddef>
#include <cstdint>

namespace biogpu::gpu::kmer {

// Windows are cut into ranges by the highest bits of their sort key or fingerprint.
inline constexpr int kRangeBits = 12;
inline constexpr std::size_t kRanges = std::size_t{1} << kRangeBits;

// Of n_parts devices that share the windows.
constexpr std::uint32_t first_range_of(std::size_t part, std::size_t n_parts) {
  return static_cast<std::uint32_t>(kRanges * part / n_parts);
}

}  // namespace biogpu::gpu::kmer
