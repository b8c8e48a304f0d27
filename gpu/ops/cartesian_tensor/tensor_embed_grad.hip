// The gradient of tensors out of directions, by weights and displacements.
//
// Shapes   see lib/ops/cartesian_tensor/tensor_embed_grad.hpp; T atoms, F channels.
// Mapping  32 lanes per edge; lane l takes channels l, l + 32, ..., then a fixed tree over the
// lanes
//          for the direction's 9 numbers.
// Traffic  12 F bytes an edge read and as many written, 36 F from L2 where d_out fits it; memory
//          bound. No atomics.
// Result   the same for waves of 32 and 64.
// Source   own.
// Oracle   tensor_embed_grad_ref, lib/ops/cartesian_tensor/tensor_embed_grad_ref.cpp.
#include "lib/ops/cartesian_tensor/tensor_embed_grad.hpp"

#include "gpu/ops/cartesian_tensor/tensor_numbers.hpp"
#include "gpu/ops/device.hpp"
#include "gpu/prim/wave.hpp"

namespace biogpu::gpu::ops {
namespace {

constexpr int kLanes = 32;

struct TensorEmbedGradArrays {
  const float *weights, *displacement, *distance, *d_out;
  const std::int32_t *starts, *receivers;
  float *d_weights, *d_displacement;
  std::int64_t capacity;
  TensorGrid grid;
};

template <int kWave>
__global__ __launch_bounds__(kRowBlock) void tensor_embed_grad_kernel(TensorEmbedGradArrays a) {
  const std::int64_t e = thread_number() / kLanes;
  const int lane = static_cast<int>(threadIdx.x) % kLanes, d = a.grid.d;
  const bool live = e < a.starts[a.grid.n_atoms];  // all lanes take part in the exchange
  const std::int64_t edge = live ? e : 0;
  const biogpu::ops::Direction<float> direction(a.displacement + 3 * edge, a.distance[edge]);
  const Numbers numbers = biogpu::ops::direction_numbers(direction);
  Numbers sums{};
  for (int f = lane; live && f < d; f += kLanes) {
    const Numbers g = load_numbers(a.d_out, std::int64_t{a.receivers[edge]} * d + f, a.grid.step());
    const std::int64_t at = 3 * edge * d + f;
    const float weight[3] = {a.weights[at], a.weights[at + d], a.weights[at + 2 * d]};
    float d_weight[3] = {};
#pragma unroll
    for (int c = 0; c < 9; ++c) {
      const int p = c == 0 ? 0 : c < 4 ? 1 : 2;
      d_weight[p] += numbers.n[c] * g.n[c];
      sums.n[c] += weight[p] * g.n[c];
    }
#pragma unroll
    for (int p = 0; p < 3; ++p) a.d_weights[at + p * d] = d_weight[p];
  }
#pragma unroll
  for (int c = 1; c < 9; ++c)  // the scalar part has no direction
    for (int mask = kLanes / 2; mask > 0; mask /= 2)
      sums.n[c] += wave_shuffle_xor<kWave>(sums.n[c], mask, kLanes);
  float d_r[3];
  biogpu::ops::direction_grad(direction, sums, d_r);
#pragma unroll
  for (int axis = 0; axis < 3; ++axis)
    if (live && lane == axis) a.d_displacement[3 * e + axis] = d_r[axis];
}

}  // namespace

void tensor_embed_grad(Device &device, const biogpu::ops::TensorEmbedGrad &op) {
  if (op.weights.size() == 0) return;
  const TensorEmbedGradArrays arrays{op.weights.as<float>(),
                                     op.edges->displacement.as<float>(),
                                     op.edges->distance.as<float>(),
                                     op.d_out.as<float>(),
                                     op.edges->starts.as<std::int32_t>(),
                                     op.edges->receivers.as<std::int32_t>(),
                                     op.d_weights.as<float>(),
                                     op.d_displacement.as<float>(),
                                     op.edges->capacity(),
                                     {op.d_out.shape[1], static_cast<int>(op.d_out.shape[2])}};
  const auto kernel = device.stream().wave_width() == 64 ? tensor_embed_grad_kernel<64>
                                                         : tensor_embed_grad_kernel<32>;
  device.stream().launch(kernel, row_blocks(arrays.capacity * kLanes), kRowBlock, arrays);
}

}  // namespace biogpu::gpu::ops
