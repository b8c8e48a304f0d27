// Eigenvalues and eigenvectors of symmetric 3 x 3 matrices.
//
// Shapes   see lib/ops/cartesian_tensor/eigen3.hpp.
// Mapping  one thread per matrix, all of it in registers.
// Traffic  84 bytes a matrix; bound by some 600 operations in double precision.
// Result   of double precision, rounded to fp32; vectors are orthogonal to its rounding.
// Source   Jacobi 1846, doi 10.1515/crll.1846.30.51.
// Oracle   eigen3_ref, lib/ops/cartesian_tensor/eigen3_ref.cpp.
#include "lib/ops/cartesian_tensor/eigen3.hpp"

#include "gpu/ops/device.hpp"
#include "gpu/ops/row_threads.hpp"

#define BIOGPU_JACOBI_FUNCTION __device__ __forceinline__
#include "lib/ops/cartesian_tensor/jacobi3.hpp"

namespace biogpu::gpu::ops {
namespace {

struct EigenArrays {
  const float* x;
  float *values, *vectors;
  std::int64_t x_stride, values_stride, vectors_stride, n;
};

__global__ __launch_bounds__(kRowBlock) void eigen3_kernel(EigenArrays a) {
  const std::int64_t r = thread_number();
  if (r >= a.n) return;
  const biogpu::ops::EigenSystem3 system = biogpu::ops::eigen_system(a.x + r * a.x_stride);
#pragma unroll
  for (int i = 0; i < 3; ++i) {
    if (a.values != nullptr) a.values[r * a.values_stride + i] = static_cast<float>(system.a[i][i]);
    if (a.vectors == nullptr) continue;
#pragma unroll
    for (int k = 0; k < 3; ++k)
      a.vectors[r * a.vectors_stride + 3 * i + k] = static_cast<float>(system.v[i][k]);
  }
}

}  // namespace

void eigen3(Device& device, const biogpu::ops::Eigen3& op) {
  const EigenArrays arrays{op.x.as<float>(), op.values.as<float>(), op.vectors.as<float>(),
                           op.x.stride[0],   op.values.stride[0],   op.vectors.stride[0],
                           op.x.shape[0]};
  if (arrays.n == 0) return;
  device.stream().launch(eigen3_kernel, row_blocks(arrays.n), kRowBlock, arrays);
}

}  // namespace biogpu::gpu::ops
