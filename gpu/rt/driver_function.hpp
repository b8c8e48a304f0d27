#pragma once

namespace biogpu::gpu {

// A function of NVIDIA's driver as it has been since this release of CUDA (12000: 12.0), which a
// program then need not link against; null where the driver has none.
void* driver_function(const char* name, unsigned since);

}  // namespace biogpu::gpu
