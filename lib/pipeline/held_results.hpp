#pragma once

#include <algorithm>
#include <cstdint>

#include "lib/pipeline/pipeline.hpp"

namespace biogpu::pipeline {

// Memory for results that were computed and not yet written, or are being computed.
inline constexpr std::uint64_t kMaxHeldBytes = std::uint64_t{8} << 30;

// Workers, and results that are there at a time: two more than workers, or as many as have
// max_bytes together, but at least one. result_bytes: of a batch; 0 where they are small.
inline Size held_results(int n_workers, std::uint64_t result_bytes,
                         std::uint64_t max_bytes = kMaxHeldBytes) {
  const auto n_wanted = static_cast<std::uint64_t>(n_workers) + 2;
  const std::uint64_t n_held =
      result_bytes == 0 ? n_wanted
                        : std::clamp<std::uint64_t>(max_bytes / result_bytes, 1, n_wanted);
  return {static_cast<int>(std::min<std::uint64_t>(static_cast<std::uint64_t>(n_workers), n_held)),
          static_cast<int>(n_held)};
}

}  // namespace biogpu::pipeline
