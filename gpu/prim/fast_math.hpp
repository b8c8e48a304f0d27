#pragma once

// Functions that the hardware computes in one instruction, with its own rounding: relative error up
// to 2^-22 on NVIDIA and AMD.

#include "gpu/rt/hip.hpp"

namespace biogpu::gpu {

// 2^x; 0 for x below -126 or so, -infinity included.
__device__ __forceinline__ float fast_exp2(float x) {
#if defined(BIOGPU_GPU_CUDA)
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#elif defined(BIOGPU_GPU_ROCM)
  return __builtin_amdgcn_exp2f(x);
#else
  return exp2f(x);
#endif
}

// 1 / sqrt(x)
__device__ __forceinline__ float fast_rsqrt(float x) {
#if defined(BIOGPU_GPU_CUDA)
  float y;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#elif defined(BIOGPU_GPU_ROCM)
  return __builtin_amdgcn_rsqf(x);
#else
  return 1.0f / sqrtf(x);
#endif
}

// 1 / x
__device__ __forceinline__ float fast_reciprocal(float x) {
#if defined(BIOGPU_GPU_CUDA)
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#elif defined(BIOGPU_GPU_ROCM)
  return __builtin_amdgcn_rcpf(x);
#else
  return 1.0f / x;
#endif
}

// The lesser of x and a bound; NaN where x is.
__device__ __forceinline__ float at_most(float x, float bound) {
#if defined(BIOGPU_GPU_CUDA)
  float y;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(x), "f"(bound));
  return y;
#else
  return x > bound ? bound : x;
#endif
}

}  // namespace biogpu::gpu
