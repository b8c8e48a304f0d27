#pragma once

#include <cstdint>
#include <vector>

#include "lib/align/align.hpp"
#include "lib/align/cpu/pair_scores.hpp"
#include "lib/align/cpu/scratch.hpp"

namespace biogpu::align {

// Aligns one pair of non-empty sequences on its own with 32-bit scores, a vector along an
// anti-diagonal. Score and ends take O(m + n) memory. A path takes some hundred bytes per target
// residue at most, whatever the query's length: rows kept as checkpoints, between which the parts
// that the path crosses are computed again, by levels where the parts are large, so that the path
// is that of the full matrix. Appends to `cigar`.
Alignment align_long_pair(const Options& options, const PairScores& scores,
                          std::span<const std::uint8_t> query, std::span<const std::uint8_t> target,
                          Scratch& scratch, std::vector<std::uint32_t>& cigar);

}  // namespace biogpu::align
