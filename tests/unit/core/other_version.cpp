// A module of another build of biogpu: nothing but its digest can be trusted.
#include "lib/core/gpu_backend.hpp"

extern "C" const char* biogpu_gpu_interface() { return "0123456789abcdef"; }

extern "C" const biogpu::GpuBackend* biogpu_gpu_backend() {
  throw "a module of another build must not be called";
}
