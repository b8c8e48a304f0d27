#pragma once

#include "gpu/ops/device.hpp"
#include "gpu/ops/neighbours/edge_search.hpp"
#include "gpu/ops/neighbours/image_cells.hpp"

namespace biogpu::gpu::ops {

// edges.images: where fills is set, [capacity].
void launch_image_list(Device& device, const ImageSearch& search, const EdgeArrays& edges,
                       bool fills);

}  // namespace biogpu::gpu::ops
