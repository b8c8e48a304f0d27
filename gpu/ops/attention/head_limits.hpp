#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

#include "gpu/rt/error.hpp"

namespace biogpu::gpu::ops {

// What kernels of attention hold of a head at most.
inline void require_heads(const char* operation, std::initializer_list<std::int64_t> sizes,
                          std::int64_t largest) {
  for (const std::int64_t size : sizes)
    if (size > largest)
      throw DeviceError(DeviceError::Kind::failed,
                        std::string(operation) + ": heads of " + std::to_string(size) +
                            " numbers; GPUs take up to " + std::to_string(largest));
}

}  // namespace biogpu::gpu::ops
