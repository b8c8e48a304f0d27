#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

#include "gpu/rt/error.hpp"

namespace biogpu::gpu::ops {

inline constexpr std::int64_t kAnyHead = INT64_MAX;

// What kernels of attention assume of the numbers of a head. largest: kAnyHead where there is none.
inline void require_heads(const char* operation, std::initializer_list<std::int64_t> sizes,
                          std::int64_t largest) {
  const std::string most = largest == kAnyHead ? "" : " up to " + std::to_string(largest);
  for (const std::int64_t size : sizes)
    if (size % 8 != 0 || size < 8 || size > largest)
      throw DeviceError(DeviceError::Kind::failed, std::string(operation) + ": heads of " +
                                                       std::to_string(size) +
                                                       " numbers; GPUs take multiples of 8" + most);
}

}  // namespace biogpu::gpu::ops
