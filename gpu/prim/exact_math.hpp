#pragma once

// Arithmetic whose every step is rounded as IEEE 754 says, never fused: the same bits as on a CPU.

#include <cstdint>
#include <cstring>

#include "gpu/rt/hip.hpp"

namespace biogpu::gpu {

// x x + y y + z z + add, summed from the left.
__device__ __forceinline__ float exact_squares(float x, float y, float z, float add) {
#if defined(BIOGPU_GPU_CUDA)
  const float sum = __fadd_rn(__fmul_rn(x, x), __fmul_rn(y, y));
  return __fadd_rn(__fadd_rn(sum, __fmul_rn(z, z)), add);
#else
#if defined(BIOGPU_GPU_ROCM)
#pragma clang fp contract(off)
#endif
  const float xx = x * x, yy = y * y, zz = z * z;
  return xx + yy + zz + add;
#endif
}

__device__ __forceinline__ float exact_root(float x) {
#if defined(BIOGPU_GPU_CUDA)
  return __fsqrt_rn(x);
#else
  return sqrtf(x);
#endif
}

// a0 b0 + a1 b1 + a2 b2, summed from the left.
__device__ __forceinline__ float exact_dot(float a0, float b0, float a1, float b1, float a2,
                                           float b2) {
#if defined(BIOGPU_GPU_CUDA)
  return __fadd_rn(__fadd_rn(__fmul_rn(a0, b0), __fmul_rn(a1, b1)), __fmul_rn(a2, b2));
#else
#if defined(BIOGPU_GPU_ROCM)
#pragma clang fp contract(off)
#endif
  const float first = a0 * b0, second = a1 * b1, third = a2 * b2;
  return first + second + third;
#endif
}

// The same in double precision.
__device__ __forceinline__ double exact_root(double x) {
#if defined(BIOGPU_GPU_CUDA)
  return __dsqrt_rn(x);
#else
  return sqrt(x);
#endif
}
__device__ __forceinline__ double exact_dot(double a0, double b0, double a1, double b1, double a2,
                                            double b2) {
#if defined(BIOGPU_GPU_CUDA)
  return __dadd_rn(__dadd_rn(__dmul_rn(a0, b0), __dmul_rn(a1, b1)), __dmul_rn(a2, b2));
#else
#if defined(BIOGPU_GPU_ROCM)
#pragma clang fp contract(off)
#endif
  const double first = a0 * b0, second = a1 * b1, third = a2 * b2;
  return first + second + third;
#endif
}

// a - b c
__device__ __forceinline__ float exact_minus_product(float a, float b, float c) {
#if defined(BIOGPU_GPU_CUDA)
  return __fsub_rn(a, __fmul_rn(b, c));
#else
#if defined(BIOGPU_GPU_ROCM)
#pragma clang fp contract(off)
#endif
  const float product = b * c;
  return a - product;
#endif
}

// a + b c
__device__ __forceinline__ double exact_plus_product(double a, double b, double c) {
#if defined(BIOGPU_GPU_CUDA)
  return __dadd_rn(a, __dmul_rn(b, c));
#else
#if defined(BIOGPU_GPU_ROCM)
#pragma clang fp contract(off)
#endif
  const double product = b * c;
  return a + product;
#endif
}

// The bits of a number; those of numbers that are not negative compare like the numbers.
__device__ __forceinline__ std::uint32_t bits_of(float x) {
  std::uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}
__device__ __forceinline__ float number_of(std::uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

}  // namespace biogpu::gpu
