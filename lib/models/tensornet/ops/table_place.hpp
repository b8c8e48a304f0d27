#pragma once

#include <cstdint>

#ifndef BIOGPU_TABLE_FUNCTION
#define BIOGPU_TABLE_FUNCTION inline
#endif

namespace biogpu::models::tensornet {

// Where a distance is in a table of functions (RadialTable, edge_ops.hpp); inside is false where
// functions are 0. gpu/models/tensornet/table_functions.hpp makes it a device's.
struct TablePlace {
  bool inside;
  std::int64_t interval;
  float t;      // 0 to 1
  float scale;  // intervals in one unit of distance

  BIOGPU_TABLE_FUNCTION TablePlace(float distance, float lower, float upper,
                                   std::int64_t n_intervals)
      : inside(distance >= lower), scale(static_cast<float>(n_intervals) / (upper - lower)) {
    const float at = inside ? (distance - lower) * scale : 0.0f;
    interval = static_cast<std::int64_t>(at);
    if (interval >= n_intervals) interval = n_intervals - 1;
    t = at - static_cast<float>(interval);
  }
};

}  // namespace biogpu::models::tensornet
