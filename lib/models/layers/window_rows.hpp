#pragma once

// Rows of windows of equal length, one after the other, as a pass of a DNA model uploads them.

#include <cstdint>
#include <numeric>
#include <vector>

#include "lib/models/layers/track_config.hpp"

namespace biogpu::models {

// 0 to n - 1.
inline std::vector<std::int32_t> counting(std::int64_t n) {
  std::vector<std::int32_t> numbers(static_cast<std::size_t>(n));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

// Ragged::starts.
inline std::vector<std::int32_t> window_starts(std::int64_t n_windows, std::int64_t length) {
  std::vector<std::int32_t> starts;
  for (std::int64_t w = 0; w <= n_windows; ++w)
    starts.push_back(static_cast<std::int32_t>(w * length));
  return starts;
}

// The rows of bins where a window has n_rows.
inline std::vector<std::int32_t> bin_rows(std::int64_t n_windows, std::int64_t n_rows,
                                          const BinRange& bins) {
  std::vector<std::int32_t> rows;
  for (std::int64_t w = 0; w < n_windows; ++w)
    for (std::int64_t bin = 0; bin < bins.n; ++bin)
      rows.push_back(static_cast<std::int32_t>(w * n_rows + bins.first + bin));
  return rows;
}

}  // namespace biogpu::models
