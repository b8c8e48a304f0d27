#pragma once

#include <filesystem>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/rt/device.hpp"

// What is known of a device without a context on it, which takes tenths of a second to make.
namespace biogpu::gpu {

// As list_devices(), without a context on any device that the driver's monitor knows and this build
// has code for; the others are opened.
std::vector<DeviceProperties> describe_devices(std::string* why);
// The same without a context on any, and without what open_device() finds out.
std::vector<DeviceProperties> name_devices(std::string* why);

// Makes a context on the device and finds out whether this build can use it: why_not and
// memory_free_bytes of what was described.
void open_device(DeviceProperties& device);

// NVML, opened at run time and attached to the devices until it is destroyed.
class Nvml {
 public:
  explicit Nvml(const char* library);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  // Of the device at an address of the PCI bus ("0000:1b:00.0"); nothing where NVML does not tell.
  std::optional<MemoryInfo> memory(const std::string& bus_id) const;

 private:
  void* library_ = nullptr;
  bool is_attached_ = false;
};

// Memory of devices as the monitor of this platform's driver tells it.
class Monitor {
 public:
  // Attaches NVML in another thread: that takes about as long as starting the driver.
  Monitor();
  // Nothing where the monitor does not tell.
  std::optional<MemoryInfo> memory(int device) const;

 private:
  std::shared_future<std::unique_ptr<const Nvml>> nvml_;
};

// The same by the files that AMD's driver has below /sys/bus/pci/devices.
std::optional<MemoryInfo> sysfs_memory(const std::filesystem::path& pci_devices,
                                       std::string bus_id);

// Whether a list, as CMake has it but for commas, ("80-real,90-virtual", "gfx90a,gfx942") names the
// architecture
// ("sm_90", "gfx942") itself. A device may run code of another architecture too: the driver knows.
bool names_architecture(std::string_view list, std::string_view architecture);
// Whether the list of this build does.
bool has_own_code(std::string_view architecture);

}  // namespace biogpu::gpu
