#include "lib/qc/batch/gpu_steps.hpp"

#include "lib/core/gpu_backend.hpp"

namespace biogpu::qc {

bool gpu_covers(const Options& options) {
  return !options.merge && options.overlapped_out.empty() && options.index_list1.empty() &&
         options.index_list2.empty() && !options.phred64;
}

std::unique_ptr<GpuSteps> make_gpu_steps(int device, const Options& options) {
  return gpu_feature<GpuTable>().make_steps(device, options);
}

}  // namespace biogpu::qc
