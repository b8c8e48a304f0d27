#include <exception>

#include "gpu/rt/device.hpp"
#include "gpu/rt/monitor.hpp"
#include "lib/align/align_gpu.hpp"
#include "lib/bwt/bwt_device.hpp"
#include "lib/core/gpu_backend.hpp"
#include "lib/core/interface_digest.hpp"
#include "lib/kmer/device/kmer_gpu.hpp"
#include "lib/qc/batch/gpu_steps.hpp"
#include "lib/tensor/gpu_context_gpu.hpp"

namespace biogpu {
namespace {

DeviceInfo describe(const gpu::DeviceProperties& device) {
  DeviceInfo info;
  info.index = device.index;
  info.name = device.name;
  info.architecture = device.architecture;
  info.memory_free_bytes = device.memory_free_bytes;
  info.memory_total_bytes = device.memory_total_bytes;
  info.n_multiprocessors = device.n_multiprocessors;
  info.wave_width = device.wave_width;
  info.usable = device.why_not.empty();
  info.why_not = device.why_not;
  return info;
}

template <class List>
std::vector<DeviceInfo> list_by(const List& list, std::string* why) {
  std::vector<DeviceInfo> devices;
  try {
    for (const auto& device : list(why)) devices.push_back(describe(device));
  } catch (const std::exception& error) {
    devices.clear();
    *why = error.what();
  }
  return devices;
}

std::vector<DeviceInfo> list_backend_devices(std::string* why) {
  return list_by(gpu::list_devices, why);
}

std::vector<DeviceInfo> describe_backend_devices(std::string* why) {
  return list_by(gpu::describe_devices, why);
}

std::vector<DeviceInfo> name_backend_devices(std::string* why) {
  return list_by(gpu::name_devices, why);
}

void open_backend_device(DeviceInfo& device) {
  try {
    gpu::DeviceProperties opened = gpu::device_properties(device.index);
    gpu::open_device(opened);
    device = describe(opened);
  } catch (const std::exception& error) {
    device.usable = false;
    device.why_not = error.what();
  }
}

constexpr GpuFeature kFeatures[] = {
    gpu_feature_entry(align::kGpuTable), gpu_feature_entry(bwt::kGpuTable),
    gpu_feature_entry(kmer::kGpuTable), gpu_feature_entry(qc::kGpuTable),
    gpu_feature_entry(tensor::kGpuTable)};

const GpuBackend kBackend = {
    gpu::kPlatformName,        &list_backend_devices, kFeatures,
    &describe_backend_devices, &name_backend_devices, &open_backend_device};

}  // namespace
}  // namespace biogpu

extern "C" const biogpu::GpuBackend* biogpu_gpu_backend() { return &biogpu::kBackend; }

extern "C" const char* biogpu_gpu_interface() { return biogpu::kInterfaceDigest; }
