#include <string>

#include "lib/core/error.hpp"
#include "lib/core/gpu_backend.hpp"
#include "lib/nn/backend.hpp"

namespace biogpu::nn {

std::unique_ptr<Backend> make_gpu_backend(int device, const BackendOptions& options) {
  std::string why;
  const GpuBackend* backend = gpu_backend(&why);
  if (backend == nullptr) throw Error(ErrorCode::device, why);
  if (backend->make_nn_backend == nullptr)
    throw Error(ErrorCode::device, "this build's GPU backend runs no models; use --device cpu");
  return backend->make_nn_backend(device, options);
}

}  // namespace biogpu::nn
