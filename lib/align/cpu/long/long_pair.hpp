#pragma once

#include <cstdint>
#include <vector>

#include "lib/align/align.hpp"
#include "lib/align/cpu/pair_scores.hpp"
#include "lib/align/cpu/scratch.hpp"

namespace biogpu::align {

// What a path may take; smaller only for tests.
struct LongLimits {
  std::int64_t trace_bytes = std::int64_t{64}
                             << 20;  // bits computed at a time, or 256 rows of them
  std::int64_t checkpoint_bytes = std::int64_t{256} << 20;  // of one level, or 16 rows
};

// Aligns one pair of non-empty sequences on its own with 32-bit scores, a vector along an
// anti-diagonal. Score and ends take O(m + n) memory. A path takes LongLimits, or some hundred
// bytes per target residue, for any length of the query: rows and columns kept as checkpoints,
// between which the blocks that the path crosses are computed again, by levels where the blocks are
// large, so that the path is that of the full matrix. Appends to `cigar`.
Alignment align_long_pair(const Options& options, const PairScores& scores,
                          std::span<const std::uint8_t> query, std::span<const std::uint8_t> target,
                          Scratch& scratch, std::vector<std::uint32_t>& cigar,
                          const LongLimits& limits = {});

}  // namespace biogpu::align
