#pragma once

namespace biogpu::tensor {

class Context;

// "tensor.tiles" of a GPU context; args: DeviceTiles.
void give_device_tiles(Context& context, const void* args);

}  // namespace biogpu::tensor
