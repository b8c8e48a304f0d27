#pragma once

#include <algorithm>
#include <cstdint>

#include "lib/ops/cpu/cpu_context.hpp"
#include "lib/ops/declare.hpp"

namespace biogpu::ops {

// A weight [n_out, n_in] as the CPU's products read it: panels of panel_width() columns of the
// product; panel p holds, for each k, the weights of outputs [p * width, (p + 1) * width), zeros
// past n_out. Aligned to 64 bytes. The width is the instruction set's.
std::int64_t panel_width();
std::int64_t count_panels(std::int64_t n_out);
std::int64_t packed_size(std::int64_t n_out, std::int64_t n_in);
// One panel, to its place in `packed`; and all of them.
void pack_panel(const Tensor& weight, std::int64_t panel, float* packed);
void pack_weight(const Tensor& weight, float* packed);

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
