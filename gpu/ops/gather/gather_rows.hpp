#pragma once

#include <cstdint>

#include "gpu/ops/elements.hpp"
#include "gpu/rt/stream.hpp"

namespace biogpu::gpu::ops {

// to[r] = from[r] for d numbers, of any types. rows, where given: to[r] = from[rows[r]].
void launch_copy_rows(const Rows& to, const Rows& from, const std::int32_t* rows,
                      std::int64_t n_rows, int d, Stream& stream);

}  // namespace biogpu::gpu::ops
