// Settings, errors and devices of the emulated platform.
#include "runtime.hpp"

#include <hip/hip_matrix.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace hip_on_host {

thread_local int current_device = 0;

State& state() {
  static State* const the_state = new State;  // never destroyed: static objects may still free
  return *the_state;
}

namespace {

thread_local hipError_t last_error = hipSuccess;

std::size_t number_from_environment(const char* name, std::size_t fallback) {
  const char* text = std::getenv(name);
  return text == nullptr ? fallback : std::strtoull(text, nullptr, 10);
}

}  // namespace

hipError_t remember(hipError_t error) {
  if (error != hipSuccess) last_error = error;
  return error;
}

const Settings& settings() {
  static const Settings read = [] {
    Settings result;
    result.wave_width = static_cast<int>(number_from_environment("BIOGPU_EMULATED_WAVE", 32));
    result.n_devices = static_cast<int>(number_from_environment("BIOGPU_EMULATED_DEVICES", 1));
    result.memory_bytes = number_from_environment("BIOGPU_EMULATED_MEMORY", result.memory_bytes);
    result.order_seed = static_cast<unsigned>(number_from_environment("BIOGPU_EMULATED_ORDER", 0));
    result.has_clusters = number_from_environment("BIOGPU_EMULATED_CLUSTERS", 0) != 0;
    result.cuts_sums = number_from_environment("BIOGPU_EMULATED_CUT", 0) != 0;
    if ((result.wave_width != 32 && result.wave_width != 64) || result.n_devices > 8 ||
        (result.has_clusters && result.wave_width != 32)) {
      std::fprintf(stderr,
                   "emulated device: BIOGPU_EMULATED_WAVE is 32 or 64, "
                   "BIOGPU_EMULATED_DEVICES 0 to 8, BIOGPU_EMULATED_CLUSTERS for waves of 32\n");
      std::exit(2);
    }
    return result;
  }();
  return read;
}

bool cuts_sums() { return settings().cuts_sums; }

}  // namespace hip_on_host

const char* hipGetErrorName(hipError_t error) {
  switch (error) {
    case hipSuccess:
      return "hipSuccess";
    case hipErrorInvalidValue:
      return "hipErrorInvalidValue";
    case hipErrorOutOfMemory:
      return "hipErrorOutOfMemory";
    case hipErrorInsufficientDriver:
      return "hipErrorInsufficientDriver";
    case hipErrorNoDevice:
      return "hipErrorNoDevice";
    case hipErrorInvalidDevice:
      return "hipErrorInvalidDevice";
    case hipErrorNoBinaryForGpu:
      return "hipErrorNoBinaryForGpu";
    case hipErrorInvalidHandle:
      return "hipErrorInvalidHandle";
    case hipErrorNotReady:
      return "hipErrorNotReady";
    case hipErrorPeerAccessAlreadyEnabled:
      return "hipErrorPeerAccessAlreadyEnabled";
  }
  return "unknown";
}

const char* hipGetErrorString(hipError_t error) { return hipGetErrorName(error); }

hipError_t hipGetLastError() { return std::exchange(hip_on_host::last_error, hipSuccess); }

hipError_t hipGetDeviceCount(int* count) {
  *count = hip_on_host::settings().n_devices;
  return *count > 0 ? hipSuccess : hipErrorNoDevice;
}

hipError_t hipSetDevice(int device) {
  if (device < 0 || device >= hip_on_host::settings().n_devices) return hipErrorInvalidDevice;
  hip_on_host::current_device = device;
  return hipSuccess;
}

hipError_t hipGetDevice(int* device) {
  *device = hip_on_host::current_device;
  return hipSuccess;
}

hipError_t hipGetDeviceProperties(hipDeviceProp_t* properties, int device) {
  if (device < 0 || device >= hip_on_host::settings().n_devices) return hipErrorInvalidDevice;
  *properties = {};
  const int wave = hip_on_host::settings().wave_width;
  std::snprintf(properties->name, sizeof properties->name, "emulated, wave %d", wave);
  std::snprintf(properties->gcnArchName, sizeof properties->gcnArchName, "emulated");
  properties->warpSize = wave;
  properties->multiProcessorCount = 2;
  properties->major = hip_on_host::settings().has_clusters ? 9 : 0;
  properties->totalGlobalMem = hip_on_host::settings().memory_bytes;
  const auto most_shared = static_cast<std::size_t>(hip_on_host::settings().most_shared_bytes());
  properties->sharedMemPerBlock = hip_on_host::settings().has_clusters ? most_shared : 48 * 1024;
  properties->sharedMemPerBlockOptin = most_shared;
  properties->sharedMemPerMultiprocessor = most_shared;
  return hipSuccess;
}

hipError_t hipDeviceCanAccessPeer(int* can, int device, int peer) {
  const int n = hip_on_host::settings().n_devices;
  if (device < 0 || device >= n || peer < 0 || peer >= n) return hipErrorInvalidDevice;
  *can = device != peer ? 1 : 0;
  return hipSuccess;
}

hipError_t hipDeviceEnablePeerAccess(int peer, unsigned) {
  if (peer < 0 || peer >= hip_on_host::settings().n_devices) return hipErrorInvalidDevice;
  return hipSuccess;
}

hipError_t hipFuncSetAttribute(const void*, hipFuncAttribute, int value) {
  return value <= hip_on_host::settings().most_shared_bytes()
             ? hipSuccess
             : hip_on_host::remember(hipErrorInvalidValue);
}
