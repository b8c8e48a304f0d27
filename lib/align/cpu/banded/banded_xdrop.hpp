#pragma once

#include <cstdint>
#include <vector>

#include "lib/align/align.hpp"
#include "lib/align/cpu/pair_scores.hpp"
#include "lib/align/cpu/scratch.hpp"

namespace biogpu::align {

// Aligns one pair of non-empty sequences within a band, or as an extension with X-drop, or both:
// whole anti-diagonals with 32-bit scores, of which only the cells in the band, or next to living
// ones, are computed. Time and, where a path is wanted, half a byte are spent per such cell.
// Appends to `cigar`.
Alignment align_banded_pair(const Options& options, const PairScores& scores,
                            std::span<const std::uint8_t> query,
                            std::span<const std::uint8_t> target, Scratch& scratch,
                            std::vector<std::uint32_t>& cigar);

}  // namespace biogpu::align
