#pragma once

#include <algorithm>
#include <cstdint>

#include "lib/ops/cpu/cpu_context.hpp"

namespace biogpu::ops {

// Panels [begin, end) of a weight.
struct PanelRange {
  std::int64_t begin, end;
};

// Calls body(block, panels) for blocks of rows of a product, by all threads; where
// the blocks are fewer than threads, each is cut into groups of panels too.
template <class Body>
void for_panels(CpuContext& context, std::int64_t n_blocks, std::int64_t n_panels,
                const Body& body) {
  const std::int64_t n_groups = std::clamp<std::int64_t>(
      (8 * context.n_threads() + n_blocks - 1) / std::max<std::int64_t>(1, n_blocks), 1, n_panels);
  context.for_each(n_blocks * n_groups, [&](std::int64_t i) {
    const std::int64_t group = i % n_groups;
    body(i / n_groups, PanelRange{n_panels * group / n_groups, n_panels * (group + 1) / n_groups});
  });
}

}  // namespace biogpu::ops
