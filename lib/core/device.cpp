#include "lib/core/device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <mutex>
#include <span>
#include <utility>

#include "lib/core/device_start.hpp"
#include "lib/core/error.hpp"
#include "lib/core/gpu_backend.hpp"
#include "lib/core/run_on_threads.hpp"
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

// The devices that the request names, in its order; throws when a listed one is not there.
std::vector<DeviceInfo> named_devices(const DeviceRequest& request,
                                      const std::vector<DeviceInfo>& devices) {
  if (request.kind != DeviceRequest::Kind::listed) return devices;
  std::vector<DeviceInfo> named;
  for (const int index : request.indices) {
    const auto found = std::find_if(devices.begin(), devices.end(), [&](const DeviceInfo& device) {
      return device.index == index;
    });
    if (found == devices.end()) {
      throw Error(ErrorCode::device, fmt::format("device {}: there are {} devices; see "
                                                 "'biogpu devices'",
                                                 index, devices.size()));
    }
    named.push_back(*found);
  }
  return named;
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

// Makes contexts on the devices, a thread for each: one takes a tenth of a second.
void open_at_once(std::span<DeviceInfo> devices) {
  const GpuBackend* const backend = gpu_backend(nullptr);
  if (backend == nullptr || backend->open_device == nullptr) return;
  start_part(&StartSeconds::contexts, [&] {
    run_on_threads(static_cast<int>(devices.size()), devices.size(),
                   [&](std::size_t, std::size_t i) {
                     if (devices[i].usable) backend->open_device(devices[i]);
                   });
    return true;
  });
}

// The first max_gpus of the named devices that can be used. Throws when a listed one cannot.
std::vector<DeviceInfo> open_devices(const DeviceRequest& request, std::vector<DeviceInfo>& named,
                                     int max_gpus) {
  std::vector<DeviceInfo> opened;
  const auto n_wanted = [&] { return static_cast<std::size_t>(max_gpus) - opened.size(); };
  for (std::size_t at = 0; at < named.size() && n_wanted() > 0;) {
    const auto group = std::span(named).subspan(at, std::min(n_wanted(), named.size() - at));
    open_at_once(group);
    at += group.size();
    for (const DeviceInfo& device : group) {
      if (device.usable)
        opened.push_back(device);
      else if (request.kind == DeviceRequest::Kind::listed)
        throw Error(ErrorCode::device,
                    fmt::format("device {} ({}): {}", device.index, device.name, device.why_not));
    }
  }
  return opened;
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

void tell_unused(DeviceChoice& choice) {
  const auto n_used = static_cast<int>(choice.gpus.size());
  if (n_used > 0 && n_used < choice.n_offered)
    choice.reason += fmt::format("; {} of {} devices used", n_used, choice.n_offered);
}

DeviceChoice choose_device(const DeviceRequest& request, bool worth_gpu, int max_gpus) {
  using Kind = DeviceRequest::Kind;
  if (request.kind == Kind::cpu) return {{}, "cpu", "asked for"};
  if (request.kind == Kind::automatic && !worth_gpu) {
    return {{},
            "cpu",
            has_gpu_backend() ? "the input is too small to pay for a GPU"
                              : "this build has no GPU backend"};
  }
  std::string why;
  auto named = named_devices(request, name_devices(&why));
  const auto opened = open_devices(request, named, std::max(1, max_gpus));
  if (opened.empty()) {
    if (!named.empty()) why = fmt::format("{}: {}", named[0].name, named[0].why_not);
    if (request.kind == Kind::automatic) return {{}, "cpu", why};
    throw Error(ErrorCode::device, fmt::format("no GPU can be used: {}; use --device cpu", why));
  }
  DeviceChoice choice;
  choice.name = opened[0].name;
  choice.reason = request.kind == Kind::automatic ? "found and worth its start" : "asked for";
  choice.memory_free_bytes = opened[0].memory_free_bytes;
  choice.n_offered = static_cast<int>(std::count_if(
      named.begin(), named.end(), [](const DeviceInfo& device) { return device.usable; }));
  for (const DeviceInfo& device : opened) {
    choice.gpus.push_back(device.index);
    choice.memory_free_bytes = std::min(choice.memory_free_bytes, device.memory_free_bytes);
  }
  tell_unused(choice);
  return choice;
}

}  // namespace biogpu
