#pragma once

#include <algorithm>
#include <cstddef>

#include "lib/core/error.hpp"

namespace biogpu::tasks {

// Calls run(first, n) for [first, first + n) at once, or in halves where a device's memory is
// short.
template <class Run>
void run_in_halves(std::size_t first, std::size_t n, const Run& run) {
  try {
    return run(first, n);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::device_memory || n == 1) throw;
  }
  run_in_halves(first, n / 2, run);
  run_in_halves(first + n / 2, n - n / 2, run);
}

// The same for all of n in parts of at_once.
template <class Run>
void run_in_parts(std::size_t n, std::size_t at_once, const Run& run) {
  for (std::size_t first = 0; first < n; first += at_once)
    run_in_halves(first, std::min(at_once, n - first), run);
}

}  // namespace biogpu::tasks
