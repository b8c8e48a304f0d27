#include "lib/nn/backend.hpp"

#include "lib/core/gpu_backend.hpp"
#include "lib/nn/backend_gpu.hpp"

namespace biogpu::nn {

std::unique_ptr<Backend> make_gpu_backend(int device, const BackendOptions& options) {
  return gpu_feature<GpuTable>().make_backend(device, options);
}

}  // namespace biogpu::nn
