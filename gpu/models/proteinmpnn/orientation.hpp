#pragma once

#include "gpu/prim/exact_math.hpp"
#include "gpu/rt/hip.hpp"

namespace biogpu::gpu::proteinmpnn::edges {

__device__ __forceinline__ float sign_of(float x) { return x > 0 ? 1.0f : x < 0 ? -1.0f : 0.0f; }

// The direction from point a to b in axes at_a, and the rotation from axes at_a to at_b as a
// quaternion: 7 numbers. Axes: rows of a 3 x 3 matrix. Products are rounded one by one, as on the
// CPU: where a quaternion's part is near zero, its root makes thousands of roundings out of one.
__device__ inline void orientation(const float* a, const float* b, const float* at_a,
                                   const float* at_b, float* out) {
  const float step[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
  float squares = 0;
  for (int r = 0; r < 3; ++r) {
    out[r] = exact_dot(at_a[3 * r], step[0], at_a[3 * r + 1], step[1], at_a[3 * r + 2], step[2]);
    squares += out[r] * out[r];
  }
  const float length = fmaxf(sqrtf(squares), 1e-12f);
  for (int r = 0; r < 3; ++r) out[r] /= length;
  float m[3][3];
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 3; ++c)
      m[r][c] = exact_dot(at_a[r], at_b[c], at_a[3 + r], at_b[3 + c], at_a[6 + r], at_b[6 + c]);
  const float x = m[0][0], y = m[1][1], z = m[2][2];
  float* const q = out + 3;
  q[0] = sign_of(m[2][1] - m[1][2]) * 0.5f * sqrtf(fabsf(1.0f + (x - y - z)));
  q[1] = sign_of(m[0][2] - m[2][0]) * 0.5f * sqrtf(fabsf(1.0f + (-x + y - z)));
  q[2] = sign_of(m[1][0] - m[0][1]) * 0.5f * sqrtf(fabsf(1.0f + (-x - y + z)));
  q[3] = 0.5f * sqrtf(fmaxf(0.0f, 1.0f + (x + y + z)));
  const float norm = fmaxf(sqrtf(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]), 1e-12f);
  for (int d = 0; d < 4; ++d) q[d] /= norm;
}

}  // namespace biogpu::gpu::proteinmpnn::edges
