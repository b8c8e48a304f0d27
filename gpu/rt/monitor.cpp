// NVML through its C interface, declared here as far as it is used: no header of it is needed to
// build, and no library to start.
#include "gpu/rt/monitor.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cctype>
#include <fstream>

#include "gpu/rt/hip.hpp"

namespace biogpu::gpu {
namespace {

constexpr int kNvmlSuccess = 0;
// All devices are attached: without, NVML finds none that it is asked for.
constexpr unsigned kNvmlAttach = 0;

struct NvmlMemory {
  unsigned long long total = 0;
  unsigned long long free = 0;
  unsigned long long used = 0;
};
struct NvmlFunctions {
  int (*init)(unsigned flags) = nullptr;
  int (*shutdown)() = nullptr;
  int (*find)(const char* bus_id, void** device) = nullptr;
  int (*memory)(void* device, NvmlMemory* memory) = nullptr;
};

template <class Function>
bool find_function(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

std::optional<MemoryInfo> ask_nvml(void* library, const std::string& bus_id) {
  NvmlFunctions call;
  if (!find_function(library, "nvmlInitWithFlags", call.init) ||
      !find_function(library, "nvmlShutdown", call.shutdown) ||
      !find_function(library, "nvmlDeviceGetHandleByPciBusId_v2", call.find) ||
      !find_function(library, "nvmlDeviceGetMemoryInfo", call.memory))
    return std::nullopt;
  if (call.init(kNvmlAttach) != kNvmlSuccess) return std::nullopt;
  void* device = nullptr;
  NvmlMemory memory;
  const bool known = call.find(bus_id.c_str(), &device) == kNvmlSuccess &&
                     call.memory(device, &memory) == kNvmlSuccess;
  call.shutdown();
  if (!known || memory.total == 0 || memory.free > memory.total) return std::nullopt;
  return MemoryInfo{memory.free, memory.total};
}

std::optional<std::uint64_t> read_number(const std::filesystem::path& path) {
  std::uint64_t value = 0;
  std::ifstream file(path);
  if (!(file >> value)) return std::nullopt;
  return value;
}

}  // namespace

std::optional<MemoryInfo> nvml_memory(const char* library, const std::string& bus_id) {
  void* const handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return std::nullopt;
  const std::optional<MemoryInfo> memory = ask_nvml(handle, bus_id);
  dlclose(handle);
  return memory;
}

std::optional<MemoryInfo> sysfs_memory(const std::filesystem::path& pci_devices,
                                       std::string bus_id) {
  std::transform(bus_id.begin(), bus_id.end(), bus_id.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto total = read_number(pci_devices / bus_id / "mem_info_vram_total");
  const auto used = read_number(pci_devices / bus_id / "mem_info_vram_used");
  if (!total || !used || *total == 0 || *used > *total) return std::nullopt;
  return MemoryInfo{*total - *used, *total};
}

std::optional<MemoryInfo> monitored_memory([[maybe_unused]] int device) {
#if defined(BIOGPU_GPU_EMULATED)
  return std::nullopt;
#else
  char bus_id[32] = "";
  if (hipDeviceGetPCIBusId(bus_id, sizeof bus_id, device) != hipSuccess) {
    (void)hipGetLastError();
    return std::nullopt;
  }
  if (kPlatformName == std::string_view("cuda")) return nvml_memory("libnvidia-ml.so.1", bus_id);
  return sysfs_memory("/sys/bus/pci/devices", bus_id);
#endif
}

bool has_own_code(std::string_view architecture) {
  return names_architecture(BIOGPU_ARCHITECTURES, architecture);
}

bool names_architecture(std::string_view list, std::string_view architecture) {
  if (architecture.starts_with("sm_")) architecture.remove_prefix(3);
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    std::string_view entry = list.substr(0, end);
    entry = entry.substr(0, entry.find_first_of("-:"));
    if (!architecture.empty() && entry == architecture) return true;
    list.remove_prefix(std::min(list.size(), end + 1));
  }
  return false;
}

}  // namespace biogpu::gpu
