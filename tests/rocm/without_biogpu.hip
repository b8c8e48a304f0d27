// A separate program, for scripts/dev/rocm_build.sh: where the distribution's ROCm cannot build
// or start this one, a build of biogpu that fails says nothing about biogpu.
#include <hip/hip_runtime.h>

#include <cstdio>

__global__ void set_kernel(int* answer) { *answer = 1; }

int main() {
  int n_devices = 0;
  const hipError_t error = hipGetDeviceCount(&n_devices);
  std::printf("%d devices: %s\n", n_devices, hipGetErrorString(error));
  return 0;
}
