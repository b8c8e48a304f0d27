#pragma once

#include <cstdint>

#include "lib/ops/gemm/gemm.hpp"

namespace biogpu::ops {

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
