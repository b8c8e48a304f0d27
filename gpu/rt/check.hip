// Turns a failed call of the GPU runtime into one clear sentence.
#include "gpu/rt/check.hpp"

#include <string>

#include "gpu/rt/error.hpp"

namespace biogpu::gpu {
namespace {

DeviceError::Kind kind_of(hipError_t error) {
  switch (error) {
    case hipErrorOutOfMemory:
      return DeviceError::Kind::out_of_memory;
    case hipErrorNoDevice:
    case hipErrorInvalidDevice:
    case hipErrorInsufficientDriver:
    case hipErrorNoBinaryForGpu:
      return DeviceError::Kind::unavailable;
    default:
      return DeviceError::Kind::failed;
  }
}

// "hipMalloc(&memory, bytes)" -> "hipMalloc"
std::string call_name(const char* call) {
  const std::string text(call);
  return text.substr(0, text.find('('));
}

}  // namespace

void throw_hip_error(hipError_t error, const char* call, std::size_t bytes) {
  (void)hipGetLastError();  // the runtime keeps the error; the next check must not meet it again
  int device = 0;
  const bool has_device = hipGetDevice(&device) == hipSuccess;
  std::string message = has_device ? "device " + std::to_string(device) + ": " : std::string();
  message += call_name(call) + " failed: " + hipGetErrorString(error);
  if (error == hipErrorOutOfMemory) {
    std::size_t free_bytes = 0;
    std::size_t total_bytes = 0;
    if (hipMemGetInfo(&free_bytes, &total_bytes) != hipSuccess) (void)hipGetLastError();
    message += "; " + std::to_string(bytes) + " bytes were asked for, " +
               std::to_string(free_bytes) + " of " + std::to_string(total_bytes) +
               " are free; lower --batch or --max-device-memory";
  } else if (kind_of(error) == DeviceError::Kind::unavailable) {
    message += "; see 'biogpu devices'";
  }
  throw DeviceError(kind_of(error), message);
}

}  // namespace biogpu::gpu
