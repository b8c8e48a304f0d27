#pragma once

#include <cstddef>

#include "gpu/rt/hip.hpp"

namespace biogpu::gpu {

// Throws DeviceError with the call's text, the device and the reason. bytes: the size asked for by
// an allocation, 0 for other calls.
void throw_hip_error(hipError_t error, const char* call, std::size_t bytes);

inline void check_hip(hipError_t error, const char* call, std::size_t bytes = 0) {
  if (error != hipSuccess) throw_hip_error(error, call, bytes);
}

}  // namespace biogpu::gpu

// Every call of the runtime goes through this.
#define BIOGPU_HIP(call) ::biogpu::gpu::check_hip((call), #call)
