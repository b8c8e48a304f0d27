#pragma once

// Rows of windows of equal length, one after the other, as a pass of a DNA model uploads them.

#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "lib/core/error.hpp"
#include "lib/models/layers/track_config.hpp"

namespace biogpu::models {

// Rows that a pool makes one, and that a step of a U-Net makes of one.
inline constexpr std::int32_t kPool = 2;

// Throws Error{failed} where rows of windows cannot be counted in 32 bits.
inline void require_window_rows(std::int64_t n_windows, std::int64_t length) {
  if (length > 0 && n_windows > std::numeric_limits<std::int32_t>::max() / length)
    throw Error(ErrorCode::failed, "a batch has more than 2147483647 rows; expected fewer windows");
}

// 0 to n - 1.
inline std::vector<std::int32_t> counting(std::int64_t n) {
  std::vector<std::int32_t> numbers(static_cast<std::size_t>(n));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

// Ragged::starts.
inline std::vector<std::int32_t> window_starts(std::int64_t n_windows, std::int64_t length) {
  require_window_rows(n_windows, length);
  std::vector<std::int32_t> starts;
  for (std::int64_t w = 0; w <= n_windows; ++w)
    starts.push_back(static_cast<std::int32_t>(w * length));
  return starts;
}

// The rows of bins where a window has n_rows.
inline std::vector<std::int32_t> bin_rows(std::int64_t n_windows, std::int64_t n_rows,
                                          const BinRange& bins) {
  require_window_rows(n_windows, n_rows);
  std::vector<std::int32_t> rows;
  for (std::int64_t w = 0; w < n_windows; ++w)
    for (std::int64_t bin = 0; bin < bins.n; ++bin)
      rows.push_back(static_cast<std::int32_t>(w * n_rows + bins.first + bin));
  return rows;
}

}  // namespace biogpu::models
