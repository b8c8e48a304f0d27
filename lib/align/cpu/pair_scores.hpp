#pragma once

#include <cstdint>

#include "lib/align/scoring/scoring.hpp"

namespace biogpu::align {

inline constexpr int kScoreStride = 64;  // words from one query class to the next

// The scores in the two forms that kernels of single pairs read. Class kMaxClasses pads and scores
// 0.
struct PairScores {
  alignas(64) std::uint8_t bytes[16] = {};                                // [query * 4 + target]
  alignas(64) std::int32_t words[(kMaxClasses + 1) * kScoreStride] = {};  // [query][target]

  explicit PairScores(const Scoring& scoring) {
    for (int q = 0; q < kMaxClasses; ++q)
      for (int t = 0; t < kMaxClasses; ++t) words[q * kScoreStride + t] = scoring.score[q][t];
    for (int c = 0; c < 16; ++c) bytes[c] = static_cast<std::uint8_t>(scoring.score[c / 4][c % 4]);
  }
};

}  // namespace biogpu::align
