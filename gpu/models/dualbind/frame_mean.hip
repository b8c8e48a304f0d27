// Means over eight frames of normalised rows.
//
// Shapes   see lib/models/dualbind/ops/frame_mean.hpp; d numbers a row.
// Mapping  a block of 256 threads a token, 32 lanes a frame for its mean and variance, then a
//          thread per column for the sum over frames.
// Traffic  8 d numbers read a token, again from cache twice, d written; memory bound.
// Result   sums over lanes in a fixed tree: the same for waves of 32 and 64.
// Source   own.
// Oracle   frame_mean_ref, lib/models/dualbind/ops/frame_mean_ref.cpp.
#include "lib/models/dualbind/ops/frame_mean.hpp"

#include "gpu/ops/device.hpp"
#include "gpu/ops/element_access.hpp"
#include "gpu/ops/row_lanes.hpp"

#define BIOGPU_TOKEN_FUNCTION __device__ __forceinline__
#include "lib/models/dualbind/ops/token_rows.hpp"

namespace biogpu::gpu::dualbind {
namespace {

namespace model = biogpu::models::dualbind;
using model::kFrames;
using ops::kLanes;

constexpr int kMeanBlock = kFrames * kLanes;

struct MeanArrays {
  ops::Rows x, out;
  const float *weight, *bias;
  float eps;
  const std::int32_t *complexes, *starts, *ligand_starts;
  std::int64_t n_complexes;
  int d;
};

template <int kWave>
__global__ __launch_bounds__(kMeanBlock) void frame_mean_kernel(MeanArrays a) {
  __shared__ float means[kFrames], scales[kFrames];
  const std::int64_t token = blockIdx.x;
  const model::TokenRows rows(a.starts, a.ligand_starts, a.n_complexes, a.complexes[token]);
  const std::int64_t first = kFrames * rows.begin + token - rows.begin, n = rows.end - rows.begin;
  const int thread = static_cast<int>(threadIdx.x), frame = thread / kLanes, lane = thread % kLanes;
  const std::int64_t own = first + frame * n;
  float sum = 0;
  for (int k = lane; k < a.d; k += kLanes) sum += ops::load_element(a.x, own, k);
  const float mean = ops::sum_of_lanes<kWave>(sum) / static_cast<float>(a.d);
  float squares = 0;
  for (int k = lane; k < a.d; k += kLanes) {
    const float off = ops::load_element(a.x, own, k) - mean;
    squares += off * off;
  }
  squares = ops::sum_of_lanes<kWave>(squares);
  if (lane == 0) {
    means[frame] = mean;
    scales[frame] = 1.0f / sqrtf(squares / static_cast<float>(a.d) + a.eps);
  }
  __syncthreads();
  for (int k = thread; k < a.d; k += kMeanBlock) {
    float total = 0;
#pragma unroll
    for (int f = 0; f < kFrames; ++f)
      total += (ops::load_element(a.x, first + f * n, k) - means[f]) * scales[f];
    ops::store_element(a.out, rows.row(token), k, total / kFrames * a.weight[k] + a.bias[k]);
  }
}

}  // namespace

void frame_mean(ops::Device& device, const model::FrameMean& op) {
  const auto n_tokens = static_cast<std::size_t>(op.out.shape[0]);
  if (n_tokens == 0) return;
  const MeanArrays arrays{ops::rows_of(op.x),
                          ops::rows_of(op.out),
                          op.norm.weight.as<float>(),
                          op.norm.bias.as<float>(),
                          op.norm.eps,
                          op.complexes.as<std::int32_t>(),
                          op.starts.as<std::int32_t>(),
                          op.ligand_starts.as<std::int32_t>(),
                          op.starts.shape[0] - 1,
                          static_cast<int>(op.out.shape[1])};
  Stream& stream = device.stream();
  stream.launch(stream.wave_width() == 64 ? frame_mean_kernel<64> : frame_mean_kernel<32>, n_tokens,
                kMeanBlock, arrays);
}

}  // namespace biogpu::gpu::dualbind
