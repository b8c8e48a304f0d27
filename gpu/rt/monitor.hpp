#pragma once

#include <filesystem>
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

// Memory of a device as the driver's monitor of this platform tells it; nothing where it does not.
std::optional<MemoryInfo> monitored_memory(int device);

// The same of the device at an address of the PCI bus ("0000:1b:00.0"), by NVML, opened at run
// time, and by the files that AMD's driver has below /sys/bus/pci/devices.
std::optional<MemoryInfo> nvml_memory(const char* library, const std::string& bus_id);
std::optional<MemoryInfo> sysfs_memory(const std::filesystem::path& pci_devices,
                                       std::string bus_id);

// Whether a list, as CMake has it but for commas, ("80-real,90-virtual", "gfx90a,gfx942") names the
// architecture
// ("sm_90", "gfx942") itself. A device may run code of another architecture too: the driver knows.
bool names_architecture(std::string_view list, std::string_view architecture);
// Whether the list of this build does.
bool has_own_code(std::string_view architecture);

}  // namespace biogpu::gpu
