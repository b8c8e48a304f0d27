#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace biogpu::gpu {

// "cuda", "rocm" or "emulated": the platform this library was compiled for.
extern const char* const kPlatformName;

struct DeviceProperties {
  int index = 0;
  std::string name;
  std::string architecture;  // "sm_90", "gfx942", "emulated"
  std::uint64_t memory_free_bytes = 0;
  std::uint64_t memory_total_bytes = 0;
  int n_multiprocessors = 0;
  int wave_width = 0;                        // threads that run in step: 32 or 64
  std::uint64_t shared_bytes_per_block = 0;  // largest dynamic shared memory of a block
  std::uint64_t shared_bytes_per_multiprocessor = 0;
  std::string why_not;  // empty when this build can use the device
};

// All devices the driver shows. Empty, with *why set to one line, when there is no driver or
// device.
std::vector<DeviceProperties> list_devices(std::string* why);

// Properties of one device. Throws DeviceError{unavailable} when there is no such device.
DeviceProperties device_properties(int index);

// Makes the device current for the calling thread; every object below belongs to the device that
// was current when it was made.
void set_device(int index);
int current_device();

// Lets kernels on one device use the memory of another, for as long as the program runs. False
// where the two devices cannot.
bool enable_peer_access(int device, int peer);

struct MemoryInfo {
  std::uint64_t free_bytes = 0;
  std::uint64_t total_bytes = 0;
};
MemoryInfo memory_info();

// Waits for everything on the current device.
void synchronize_device();

}  // namespace biogpu::gpu
