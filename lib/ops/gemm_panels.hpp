#pragma once

#include <cstdint>

#include "lib/ops/gemm.hpp"

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

// Rows [row_begin, row_end) and panels [panel_begin, panel_end) of a product whose linear->packed
// is set, by the calling thread.
struct GemmPart {
  std::int64_t row_begin = 0;
  std::int64_t row_end = 0;
  std::int64_t panel_begin = 0;
  std::int64_t panel_end = 0;
};
void gemm_part(const Gemm& op, const GemmPart& part);

}  // namespace biogpu::ops
