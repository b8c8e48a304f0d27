#pragma once

#include "gpu/ops/neighbours/image_cells.hpp"
#include "gpu/rt/stream.hpp"

namespace biogpu::gpu::ops {

void launch_image_bins(const ImageSearch& search, const CellArrays& cells, Stream& stream);

}  // namespace biogpu::gpu::ops
