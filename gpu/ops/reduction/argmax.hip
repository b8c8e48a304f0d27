// The first column of the greatest number of each row, among those that a rule allows.
//
// Shapes   see lib/ops/reduction/argmax.hpp.
// Mapping  a block of 128 threads a row; thread i takes columns i, i + 128, ..., and the waves'
//          results meet in shared memory.
// Traffic  4 V bytes a row, V more of the rule; memory bound.
// Result   exact: of equal numbers the first column, in any order of comparing.
// Source   own.
// Oracle   argmax_ref, lib/ops/reduction/argmax_ref.cpp.
#include "lib/ops/reduction/argmax.hpp"

#include <cmath>

#include "gpu/ops/device.hpp"
#include "gpu/prim/wave.hpp"
#include "gpu/rt/kernel.hpp"

namespace biogpu::gpu::ops {
namespace {

constexpr unsigned kArgmaxBlock = 128;

struct ArgmaxArgs {
  const float* x;
  std::int64_t stride;
  int n_columns;
  const std::uint8_t* allowed;
  std::int64_t allowed_stride;
  const std::int32_t* rules;
  std::int32_t* out;
  float* value;
};

// column < 0: none yet.
struct Choice {
  float value;
  int column;
};

// By numbers: structures that it chose between would be put into scratch memory on AMD.
__device__ __forceinline__ Choice better(const Choice& a, const Choice& b) {
  const bool above = b.value > a.value || (b.value == a.value && b.column < a.column);
  const bool second = b.column >= 0 && (a.column < 0 || above);
  return {second ? b.value : a.value, second ? b.column : a.column};
}

template <int kWave>
__global__ __launch_bounds__(kArgmaxBlock) void argmax_kernel(ArgmaxArgs a) {
  constexpr int kWaves = kArgmaxBlock / kWave;
  __shared__ Choice waves[kWaves];
  const std::int64_t row = blockIdx.x;
  const float* const x = a.x + row * a.stride;
  const std::uint8_t* allowed = a.allowed;
  if (allowed != nullptr && a.rules != nullptr) allowed += a.rules[row] * a.allowed_stride;
  Choice best{-INFINITY, -1};
  for (int c = static_cast<int>(threadIdx.x); c < a.n_columns; c += kArgmaxBlock) {
    // NaN is neither above nor equal.
    if (x[c] >= -INFINITY && (allowed == nullptr || allowed[c] != 0))
      best = better(best, {x[c], c});
  }
#pragma unroll
  for (int mask = kWave / 2; mask > 0; mask /= 2) {
    const Choice other{wave_shuffle_xor<kWave>(best.value, mask),
                       wave_shuffle_xor<kWave>(best.column, mask)};
    best = better(best, other);
  }
  if (wave_lane<kWave>() == 0) waves[threadIdx.x / kWave] = best;
  __syncthreads();  // all have read their rule, too, whose memory `out` may be
  if (threadIdx.x != 0) return;
  for (int w = 1; w < kWaves; ++w) best = better(best, waves[w]);
  a.out[row] = best.column < 0 ? 0 : best.column;
  if (a.value != nullptr) a.value[row] = best.value;
}

}  // namespace

void argmax(Device& device, const biogpu::ops::Argmax& op) {
  const auto n_rows = static_cast<std::size_t>(op.x.shape[0]);
  if (n_rows == 0) return;
  const ArgmaxArgs args{op.x.as<float>(),
                        op.x.stride[0],
                        static_cast<int>(op.x.shape[1]),
                        op.allowed.as<std::uint8_t>(),
                        op.allowed.stride[0],
                        op.rules.as<std::int32_t>(),
                        op.out.as<std::int32_t>(),
                        op.value.as<float>()};
  Stream& stream = device.stream();
  const auto kernel = stream.wave_width() == 64 ? argmax_kernel<64> : argmax_kernel<32>;
  stream.launch(kernel, n_rows, kArgmaxBlock, args);
}

}  // namespace biogpu::gpu::ops
