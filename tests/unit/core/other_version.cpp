// A module whose table is of the next version of biogpu: only the number at its front can be
// trusted.
#include "lib/core/gpu_backend.hpp"

extern "C" const biogpu::GpuBackend* biogpu_gpu_backend() {
  static biogpu::GpuBackend other;
  other.interface = biogpu::GpuBackend::kInterface + 1;
  return &other;
}
