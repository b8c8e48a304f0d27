// Devices as the driver shows them, and which of them this build has code for.
#include "gpu/rt/device.hpp"

#include <algorithm>

#include "gpu/rt/check.hpp"
#include "gpu/rt/error.hpp"
#include "gpu/rt/kernel.hpp"
#include "gpu/rt/monitor.hpp"

namespace biogpu::gpu {
namespace {

// Launched once per device: the driver alone knows whether it finds code for it.
__global__ void probe_kernel(int* answer) { *answer = 1; }

// The reason this build cannot run on the current device, or nothing. A kernel is not tried where
// code for the architecture itself was compiled: its module takes milliseconds to load.
std::string probe_current_device(bool tries_kernel) {
  int* answer = nullptr;
  hipError_t error = hipMalloc(reinterpret_cast<void**>(&answer), sizeof(int));
  if (error == hipSuccess) {
    if (tries_kernel) {
      hipLaunchKernelGGL(probe_kernel, dim3(1), dim3(1), 0, nullptr, answer);
    }
    error = hipGetLastError();
    if (error == hipSuccess) error = hipDeviceSynchronize();
    (void)hipFree(answer);
  }
  if (error == hipSuccess) return {};
  (void)hipGetLastError();
  if (error == hipErrorNoBinaryForGpu) return "this build has no code for its architecture";
  return hipGetErrorString(error);
}

DeviceProperties describe(int index) {
  hipDeviceProp_t properties;
  BIOGPU_HIP(hipGetDeviceProperties(&properties, index));
  DeviceProperties device;
  device.index = index;
  device.name = properties.name;
  device.architecture = architecture_name(properties);
  device.memory_total_bytes = properties.totalGlobalMem;
  device.n_multiprocessors = properties.multiProcessorCount;
  device.wave_width = properties.warpSize;
  device.shared_bytes_per_block = shared_limit_bytes(properties);
  device.shared_bytes_per_multiprocessor = properties.sharedMemPerMultiprocessor;
  return device;
}

}  // namespace

const char* const kPlatformName = BIOGPU_PLATFORM_NAME;

namespace {

// 0, with *why set, when there is no driver or device.
int count_devices(std::string* why) {
  int count = 0;  // CUDA leaves it untouched when there is no driver
  const hipError_t error = hipGetDeviceCount(&count);
  if (error != hipSuccess || count == 0) {
    (void)hipGetLastError();
    if (why != nullptr) {
      *why = std::string("no GPU found: ") +
             (error == hipSuccess ? "the driver shows no device" : hipGetErrorString(error));
    }
    return 0;
  }
  return count;
}

// True where all that is listed of the device is known without a context on it.
bool ask_monitor(const Monitor& monitor, DeviceProperties& device) {
  if (!has_own_code(device.architecture)) return false;
  const auto memory = monitor.memory(device.index);
  // A part of a device has the address of the whole, of which the monitor then speaks.
  const std::uint64_t total = device.memory_total_bytes;
  if (!memory || memory->total_bytes < total || memory->total_bytes - total > total / 16)
    return false;
  device.memory_free_bytes = std::min(memory->free_bytes, total);
  return true;
}

}  // namespace

void open_device(DeviceProperties& device) {
  int previous = 0;
  const bool has_previous = hipGetDevice(&previous) == hipSuccess;
  set_device(device.index);
  device.why_not = probe_current_device(!has_own_code(device.architecture));
  if (device.why_not.empty()) device.memory_free_bytes = memory_info().free_bytes;
  if (has_previous) set_device(previous);
}

std::vector<DeviceProperties> list_devices(std::string* why) {
  const int count = count_devices(why);
  std::vector<DeviceProperties> devices;
  for (int index = 0; index < count; ++index) {
    devices.push_back(describe(index));
    open_device(devices.back());
  }
  return devices;
}

std::vector<DeviceProperties> name_devices(std::string* why) {
  const int count = count_devices(why);
  std::vector<DeviceProperties> devices;
  for (int index = 0; index < count; ++index) devices.push_back(describe(index));
  return devices;
}

std::vector<DeviceProperties> describe_devices(std::string* why) {
  const Monitor monitor;
  std::vector<DeviceProperties> devices = name_devices(why);
  for (DeviceProperties& device : devices)
    if (!ask_monitor(monitor, device)) open_device(device);
  return devices;
}

DeviceProperties device_properties(int index) { return describe(index); }

void set_device(int index) { BIOGPU_HIP(hipSetDevice(index)); }

int current_device() {
  int index = 0;
  BIOGPU_HIP(hipGetDevice(&index));
  return index;
}

bool enable_peer_access(int device, int peer) {
  if (device == peer) return true;
  int can = 0;
  BIOGPU_HIP(hipDeviceCanAccessPeer(&can, device, peer));
  if (can == 0) return false;
  const int previous = current_device();
  set_device(device);
  const hipError_t error = hipDeviceEnablePeerAccess(peer, 0);
  set_device(previous);
  (void)hipGetLastError();
  return error == hipSuccess || error == hipErrorPeerAccessAlreadyEnabled;
}

MemoryInfo memory_info() {
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  BIOGPU_HIP(hipMemGetInfo(&free_bytes, &total_bytes));
  return {free_bytes, total_bytes};
}

void synchronize_device() { BIOGPU_HIP(hipDeviceSynchronize()); }

}  // namespace biogpu::gpu
