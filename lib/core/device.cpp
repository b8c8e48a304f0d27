#include "lib/core/device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <mutex>
#include <utility>

#include "lib/core/device_start.hpp"
#include "lib/core/error.hpp"
#include "lib/core/gpu_backend.hpp"
#include "lib/core/timed.hpp"

namespace biogpu {
namespace {

constexpr int kMaxDeviceIndex = 255;

int parse_index(std::string_view item, std::string_view whole) {
  int index = 0;
  const auto [end, error] = std::from_chars(item.data(), item.data() + item.size(), index);
  if (error != std::errc{} || end != item.data() + item.size() || index < 0 ||
      index > kMaxDeviceIndex) {
    throw Error(ErrorCode::usage,
                fmt::format("--device: '{}'; expected auto, cpu, gpu or device numbers such as 0,1",
                            whole));
  }
  return index;
}

// The usable ones among the devices asked for; throws when a listed one cannot be used.
std::vector<DeviceInfo> pick_devices(const DeviceRequest& request,
                                     const std::vector<DeviceInfo>& devices) {
  std::vector<DeviceInfo> picked;
  if (request.kind != DeviceRequest::Kind::listed) {
    std::copy_if(devices.begin(), devices.end(), std::back_inserter(picked),
                 [](const DeviceInfo& device) { return device.usable; });
    return picked;
  }
  for (const int index : request.indices) {
    const auto found = std::find_if(devices.begin(), devices.end(), [&](const DeviceInfo& device) {
      return device.index == index;
    });
    if (found == devices.end()) {
      throw Error(ErrorCode::device, fmt::format("device {}: there are {} devices; see "
                                                 "'biogpu devices'",
                                                 index, devices.size()));
    }
    if (!found->usable) {
      throw Error(ErrorCode::device,
                  fmt::format("device {} ({}): {}", index, found->name, found->why_not));
    }
    picked.push_back(*found);
  }
  return picked;
}

// Seconds of the parts of starting devices, over all calls.
struct StartSeconds {
  double module = 0;
  double driver = 0;
  double contexts = 0;
};

std::mutex start_mutex;
StartSeconds start_total;  // guarded by it

StartSeconds start_seconds() {
  const std::lock_guard lock(start_mutex);
  return start_total;
}

template <class Function>
auto start_part(double StartSeconds::*part, const Function& function) {
  double seconds = 0;
  const auto result = timed(seconds, function);
  const std::lock_guard lock(start_mutex);
  start_total.*part += seconds;
  return result;
}

const GpuBackend* open_backend(std::string* why) {
  return start_part(&StartSeconds::module, [&] { return gpu_backend(why); });
}

// What is known of the devices before those asked for are opened.
std::vector<DeviceInfo> name_devices(std::string* why) {
  const GpuBackend* const backend = open_backend(why);
  if (backend == nullptr || backend->name_devices == nullptr) return describe_devices(why);
  return start_part(&StartSeconds::driver, [&] { return backend->name_devices(why); });
}

// Of what was described, the devices that are asked for: others get no context.
void open_devices(const DeviceRequest& request, std::vector<DeviceInfo>& devices) {
  const GpuBackend* const backend = gpu_backend(nullptr);
  if (backend == nullptr || backend->open_device == nullptr) return;
  const bool all = request.kind != DeviceRequest::Kind::listed;
  for (DeviceInfo& device : devices) {
    const bool asked_for =
        all || std::count(request.indices.begin(), request.indices.end(), device.index) != 0;
    if (!asked_for || !device.usable) continue;
    start_part(&StartSeconds::contexts, [&] {
      backend->open_device(device);
      return true;
    });
  }
}

}  // namespace

DeviceRequest parse_device_request(std::string_view text) {
  DeviceRequest request;
  if (text == "auto") return request;
  if (text == "cpu") {
    request.kind = DeviceRequest::Kind::cpu;
    return request;
  }
  if (text == "gpu") {
    request.kind = DeviceRequest::Kind::gpu;
    return request;
  }
  request.kind = DeviceRequest::Kind::listed;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const int index = parse_index(text.substr(begin, end - begin), text);
    if (std::count(request.indices.begin(), request.indices.end(), index) != 0) {
      throw Error(ErrorCode::usage, fmt::format("--device: {} is listed twice", index));
    }
    request.indices.push_back(index);
    begin = end + 1;
  }
  return request;
}

std::vector<DeviceInfo> list_devices(std::string* why) {
  std::string reason;
  const GpuBackend* backend = open_backend(&reason);
  std::vector<DeviceInfo> devices;
  if (backend != nullptr)
    devices = start_part(&StartSeconds::contexts, [&] { return backend->list_devices(&reason); });
  if (devices.empty() && why != nullptr) *why = reason;
  return devices;
}

std::vector<DeviceInfo> describe_devices(std::string* why) {
  std::string reason;
  const GpuBackend* backend = open_backend(&reason);
  if (backend == nullptr || backend->describe_devices == nullptr) return list_devices(why);
  auto devices =
      start_part(&StartSeconds::driver, [&] { return backend->describe_devices(&reason); });
  if (devices.empty() && why != nullptr) *why = reason;
  return devices;
}

std::vector<StageTimes> device_start_stages() {
  const StartSeconds seconds = start_seconds();
  std::vector<StageTimes> stages;
  for (const auto& [name, part] : {std::pair{"start/module", seconds.module},
                                   {"start/driver", seconds.driver},
                                   {"start/contexts", seconds.contexts}})
    if (part > 0) stages.push_back({name, 1, part, part, 0, "", 0});
  return stages;
}

std::string_view gpu_backend_name() { return BIOGPU_GPU_BACKEND; }

DeviceChoice choose_device(const DeviceRequest& request, bool worth_gpu) {
  using Kind = DeviceRequest::Kind;
  if (request.kind == Kind::cpu) return {{}, "cpu", "asked for"};
  if (request.kind == Kind::automatic && !worth_gpu) {
    return {{},
            "cpu",
            has_gpu_backend() ? "the input is too small to pay for a GPU"
                              : "this build has no GPU backend"};
  }
  std::string why;
  auto devices = name_devices(&why);
  open_devices(request, devices);
  const auto picked = pick_devices(request, devices);
  if (picked.empty()) {
    if (!devices.empty()) why = fmt::format("{}: {}", devices[0].name, devices[0].why_not);
    if (request.kind == Kind::automatic) return {{}, "cpu", why};
    throw Error(ErrorCode::device, fmt::format("no GPU can be used: {}; use --device cpu", why));
  }
  DeviceChoice choice;
  choice.name = picked[0].name;
  choice.reason = request.kind == Kind::automatic ? "found and worth its start" : "asked for";
  choice.memory_free_bytes = picked[0].memory_free_bytes;
  for (const DeviceInfo& device : picked) {
    choice.gpus.push_back(device.index);
    choice.memory_free_bytes = std::min(choice.memory_free_bytes, device.memory_free_bytes);
  }
  return choice;
}

}  // namespace biogpu
