#pragma once

#include <cstdint>
#include <vector>

namespace biogpu::tensor {

// Ragged::starts of segments of ceil(length / factor) rows each: what pooling and strides make of
// segments. A model uploads one Ragged for each resolution; operations between two take both.
inline std::vector<std::int32_t> shortened_starts(const std::vector<std::int32_t>& starts,
                                                  std::int32_t factor) {
  std::vector<std::int32_t> shortened(1, 0);
  for (std::size_t s = 1; s < starts.size(); ++s)
    shortened.push_back(shortened.back() + (starts[s] - starts[s - 1] + factor - 1) / factor);
  return shortened;
}

// The same of floor(length / factor) rows: a pool that leaves out rows behind the last whole
// window.
inline std::vector<std::int32_t> whole_window_starts(const std::vector<std::int32_t>& starts,
                                                     std::int32_t factor) {
  std::vector<std::int32_t> shortened(1, 0);
  for (std::size_t s = 1; s < starts.size(); ++s)
    shortened.push_back(shortened.back() + (starts[s] - starts[s - 1]) / factor);
  return shortened;
}

}  // namespace biogpu::tensor
