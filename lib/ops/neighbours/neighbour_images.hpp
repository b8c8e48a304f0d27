#pragma once

#include "lib/ops/neighbours/neighbour_list.hpp"

namespace biogpu::ops {

class CpuContext;

// NeighbourList with all_images on the host: all pairs and shifts tried, or by cells.
void neighbour_images_ref(const NeighbourList& op);
void neighbour_images_cpu(CpuContext& context, const NeighbourList& op);

}  // namespace biogpu::ops
