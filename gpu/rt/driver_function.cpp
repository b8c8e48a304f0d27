#include "gpu/rt/driver_function.hpp"

#include "gpu/rt/hip.hpp"

namespace biogpu::gpu {

#if defined(BIOGPU_GPU_CUDA)
void* driver_function(const char* name, [[maybe_unused]] unsigned since) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
#if CUDART_VERSION >= 12050
  const cudaError_t error =
      cudaGetDriverEntryPointByVersion(name, &function, since, cudaEnableDefault, &found);
#else
  const cudaError_t error = cudaGetDriverEntryPoint(name, &function, cudaEnableDefault, &found);
#endif
  if (error != cudaSuccess || found != cudaDriverEntryPointSuccess) {
    (void)cudaGetLastError();  // or the next launch would be blamed
    return nullptr;
  }
  return function;
}
#else
void* driver_function(const char* /*name*/, unsigned /*since*/) { return nullptr; }
#endif

}  // namespace biogpu::gpu
