#pragma once

#include <cstdint>

#include "lib/models/proteinmpnn/ops/edge_embed.hpp"

// What edges are described by, in fp32 on the host. Products are rounded one by one: where a
// quaternion's part is near zero, its root makes thousands of roundings out of one.
namespace biogpu::models::proteinmpnn {

// The distance of pair p > 0 from node i to j.
float pair_distance(const EdgeEmbed& op, std::int64_t i, std::int64_t j, int p);
// Row of the table of relative positions.
std::int32_t position_class(const EdgeEmbed& op, std::int64_t i, std::int64_t j);
// The direction to j in the axes at i, and the rotation between both axes as a quaternion.
void edge_orientation(const EdgeEmbed& op, std::int64_t i, std::int64_t j, float* out);

}  // namespace biogpu::models::proteinmpnn
