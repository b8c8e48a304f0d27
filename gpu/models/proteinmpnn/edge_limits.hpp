#pragma once

#include <cstdint>
#include <string>

#include "gpu/rt/error.hpp"

namespace biogpu::gpu::proteinmpnn {

// What the kernels of graphs hold of a node: refused here whoever calls.
inline void require_neighbours(const char* operation, std::int64_t n, std::int64_t largest) {
  if (n > largest)
    throw DeviceError(DeviceError::Kind::failed, std::string(operation) + ": " + std::to_string(n) +
                                                     " neighbours of a node; GPUs take up to " +
                                                     std::to_string(largest));
}

inline void require_width(const char* operation, std::int64_t width, std::int64_t only) {
  if (width != only)
    throw DeviceError(DeviceError::Kind::failed, std::string(operation) + ": a width of " +
                                                     std::to_string(width) + "; GPUs take " +
                                                     std::to_string(only));
}

}  // namespace biogpu::gpu::proteinmpnn
