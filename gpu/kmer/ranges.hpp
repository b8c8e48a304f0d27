#pragma once

#include <cstddef>

namespace biogpu::gpu::kmer {

// Windows are cut into ranges by the highest bits of their place or fingerprint.
inline constexpr int kRangeBits = 12;
inline constexpr std::size_t kRanges = std::size_t{1} << kRangeBits;

}  // namespace biogpu::gpu::kmer
