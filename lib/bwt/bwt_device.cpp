#include "lib/bwt/bwt_device.hpp"

#include "lib/core/gpu_backend.hpp"

namespace biogpu::bwt {

void sort_suffixes_gpu(int device, const GpuSortJob& job, GpuSortReport& report) {
  gpu_feature<GpuTable>().sort_suffixes(device, job, report);
}

std::unique_ptr<GpuSearch> make_gpu_search(int device, const FmIndex& index) {
  return gpu_feature<GpuTable>().make_search(device, index);
}

}  // namespace biogpu::bwt
