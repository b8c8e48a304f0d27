#include <exception>

#include "gpu/rt/device.hpp"
#include "lib/align/align_gpu.hpp"
#include "lib/align/align_gpu_search.hpp"
#include "lib/bwt/bwt_gpu.hpp"
#include "lib/core/gpu_backend.hpp"
#include "lib/infer/mpnn/model_gpu.hpp"
#include "lib/kmer/gpu_counter.hpp"
#include "lib/kmer/gpu_lookup.hpp"
#include "lib/nn/backend_gpu.hpp"
#include "lib/qc/run/gpu_steps.hpp"

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

std::vector<DeviceInfo> list_backend_devices(std::string* why) {
  std::vector<DeviceInfo> devices;
  try {
    for (const auto& device : gpu::list_devices(why)) devices.push_back(describe(device));
  } catch (const std::exception& error) {
    devices.clear();
    *why = error.what();
  }
  return devices;
}

const GpuBackend kBackend = {GpuBackend::kInterface,
                             gpu::kPlatformName,
                             &list_backend_devices,
                             &align::make_gpu_aligner_of_backend,
                             &align::make_gpu_searcher_of_backend,
                             &kmer::make_gpu_counter_of_backend,
                             &bwt::sort_suffixes_of_backend,
                             &bwt::make_search_of_backend,
                             &qc::make_gpu_steps_of_backend,
                             &nn::make_gpu_backend_of_device,
                             &kmer::make_gpu_lookup_of_backend,
                             &infer::mpnn::make_gpu_model_of_backend};

}  // namespace
}  // namespace biogpu

extern "C" const biogpu::GpuBackend* biogpu_gpu_backend() { return &biogpu::kBackend; }
