#pragma once

#include "gpu/ops/device.hpp"
#include "lib/tensor/tuning/tile_table.hpp"

namespace biogpu::gpu::ops {

// The device's table of tiles, which DeviceContext fills from tuning data.
struct Tiles {
  explicit Tiles(Device&) {}
  tensor::TileTable table;
};

}  // namespace biogpu::gpu::ops
