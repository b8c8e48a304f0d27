#pragma once

#include <utility>

#include "gpu/rt/error.hpp"
#include "lib/core/error.hpp"

namespace biogpu {

inline ErrorCode code_of(gpu::DeviceError::Kind kind) {
  switch (kind) {
    case gpu::DeviceError::Kind::unavailable:
      return ErrorCode::device;
    case gpu::DeviceError::Kind::out_of_memory:
      return ErrorCode::device_memory;
    case gpu::DeviceError::Kind::failed:
      break;
  }
  return ErrorCode::failed;
}

// Runs the function with every DeviceError turned into the Error that the program ends with. For
// the GPU backends' side of the libraries.
template <class Function>
auto with_device_errors(Function&& function) {
  try {
    return std::forward<Function>(function)();
  } catch (const gpu::DeviceError& error) {
    throw Error(code_of(error.kind()), error.what());
  }
}

}  // namespace biogpu
