#include "lib/tensor/tiles_gpu.hpp"

#include "gpu/ops/gemm/tiles.hpp"
#include "gpu/rt/device.hpp"
#include "lib/core/errors_gpu.hpp"
#include "lib/tensor/device_context_gpu.hpp"
#include "lib/tensor/tuning/tuning_file.hpp"

namespace biogpu::tensor {

void give_device_tiles(Context& context, const void* args) {
  context.synchronize();  // and its device is the current one
  with_device_errors([&] {
    DeviceTiles& tiles = *static_cast<const DeviceTilesArgs*>(args)->tiles;
    tiles.table = &static_cast<DeviceContext&>(context).device().state<gpu::ops::Tiles>().table;
    tiles.device = gpu::device_properties(gpu::current_device()).name;
  });
}

}  // namespace biogpu::tensor
