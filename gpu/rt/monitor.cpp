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

constexpr char kInit[] = "nvmlInitWithFlags";
constexpr char kShutdown[] = "nvmlShutdown";
constexpr char kFind[] = "nvmlDeviceGetHandleByPciBusId_v2";
constexpr char kMemory[] = "nvmlDeviceGetMemoryInfo";

template <class Function>
Function* find_function(void* library, const char* name) {
  return library == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(library, name));
}

std::optional<std::uint64_t> read_number(const std::filesystem::path& path) {
  std::uint64_t value = 0;
  std::ifstream file(path);
  if (!(file >> value)) return std::nullopt;
  return value;
}

}  // namespace

Nvml::Nvml(const char* library) : library_(dlopen(library, RTLD_NOW | RTLD_LOCAL)) {
  const auto init = find_function<int(unsigned)>(library_, kInit);
  is_attached_ = init != nullptr && init(kNvmlAttach) == kNvmlSuccess;
}

Nvml::~Nvml() {
  const auto shutdown = find_function<int()>(library_, kShutdown);
  if (is_attached_ && shutdown != nullptr) shutdown();
  if (library_ != nullptr) dlclose(library_);
}

std::optional<MemoryInfo> Nvml::memory(const std::string& bus_id) const {
  const auto find = find_function<int(const char*, void**)>(library_, kFind);
  const auto ask = find_function<int(void*, NvmlMemory*)>(library_, kMemory);
  if (!is_attached_ || find == nullptr || ask == nullptr) return std::nullopt;
  void* device = nullptr;
  NvmlMemory memory;
  const bool known =
      find(bus_id.c_str(), &device) == kNvmlSuccess && ask(device, &memory) == kNvmlSuccess;
  if (!known || memory.total == 0 || memory.free > memory.total) return std::nullopt;
  return MemoryInfo{memory.free, memory.total};
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

Monitor::Monitor() {
  if (kPlatformName == std::string_view("cuda"))
    nvml_ =
        std::async(std::launch::async | std::launch::deferred,  // later where no thread can start
                   [] { return std::make_unique<const Nvml>("libnvidia-ml.so.1"); });
}

std::optional<MemoryInfo> Monitor::memory([[maybe_unused]] int device) const {
#if defined(BIOGPU_GPU_EMULATED)
  return std::nullopt;
#else
  char bus_id[32] = "";
  if (hipDeviceGetPCIBusId(bus_id, sizeof bus_id, device) != hipSuccess) {
    (void)hipGetLastError();
    return std::nullopt;
  }
  if (nvml_.valid()) return nvml_.get()->memory(bus_id);
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
