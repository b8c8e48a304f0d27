#pragma once

// What the waves of dp_strip.hpp hand to each other, and when.
#include <cstdint>

namespace biogpu::gpu::align {

// Steps between which a wave meets the strips above and below, and follows the scores.
inline constexpr int kStripSteps = 64;
// Steps after which both halves of all lanes have begun.
inline constexpr int kStripBegun = 128;
// Where the base puts the middle of a strip, and what no cell may fall below.
inline constexpr int kStripMiddle = 1 << 14;
inline constexpr int kStripGuard = 1024;

// What the first lane needs of the row above a column: d, F of the next row, and its letter.
struct alignas(16) StripInput {
  std::uint32_t d, f, letter, unused;
};
// What the last lane leaves of both halves: d, F of the next row, F of its own row.
struct alignas(16) StripBorder {
  std::uint32_t d, f, f_of_row, unused;
};
struct StripStage {
  StripInput in[kStripSteps];
  StripBorder out[kStripSteps];
};

}  // namespace biogpu::gpu::align
