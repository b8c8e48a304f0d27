#include "lib/kmer/device/device_counter.hpp"

#include "lib/core/gpu_backend.hpp"
#include "lib/kmer/device/kmer_gpu.hpp"

namespace biogpu::kmer {

std::unique_ptr<DeviceCounter> make_device_counter(int device,
                                                   const DeviceCounterOptions& options) {
  return gpu_feature<GpuTable>().make_counter(device, options);
}

}  // namespace biogpu::kmer
