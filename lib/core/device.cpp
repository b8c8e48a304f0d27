#include "lib/core/device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "lib/core/error.hpp"
#include "lib/core/gpu_backend.hpp"

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
  const GpuBackend* backend = gpu_backend(&reason);
  std::vector<DeviceInfo> devices;
  if (backend != nullptr) devices = backend->list_devices(&reason);
  if (devices.empty() && why != nullptr) *why = reason;
  return devices;
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
  const auto devices = list_devices(&why);
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
