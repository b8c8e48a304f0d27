#include "lib/ops/cartesian_tensor/tensor_embed_grad.hpp"

#include "lib/ops/cartesian_tensor/tensor_lanes.hpp"
#include "lib/ops/cartesian_tensor/tensor_parts.hpp"

namespace biogpu::ops {
namespace {

void grad_of_edge(const TensorEmbedGrad& op, std::int64_t e) {
  const std::int64_t step = number_step(op.d_out), d = op.d_out.shape[2];
  const float* const g = op.d_out.as<float>() + op.edges->receivers.as<std::int32_t>()[e] * d;
  const Direction<float> direction(op.edges->displacement.as<float>() + 3 * e,
                                   op.edges->distance.as<float>()[e]);
  const Numbers9<float> numbers = direction_numbers(direction);
  Lanes sums[kTensorNumbers] = {};  // of the gradient of each number, over the channels
  for (std::int64_t f = 0; f < d; f += kLanes) {
    Lanes d_weights[kTensorParts] = {};
    for (int c = 0; c < kTensorNumbers; ++c) {
      const int p = part_of(c, kTensorNumbers);
      const Lanes g_c = load_lanes(g + c * step + f, d - f);
      d_weights[p] += numbers.n[c] * g_c;
      sums[c] += g_c * load_lanes(op.weights.as<float>() + (3 * e + p) * d + f, d - f);
    }
    for (int p = 0; p < kTensorParts; ++p)
      store_lanes(d_weights[p], op.d_weights.as<float>() + (3 * e + p) * d + f, d - f);
  }
  Numbers9<float> d_numbers;
  for (int c = 0; c < kTensorNumbers; ++c)
    d_numbers.n[c] = (sums[c][0] + sums[c][1]) + (sums[c][2] + sums[c][3]);
  direction_grad(direction, d_numbers, op.d_displacement.as<float>() + 3 * e);
}

}  // namespace

void tensor_embed_grad_cpu(CpuContext& context, const TensorEmbedGrad& op) {
  const std::int64_t n_edges = op.edges->starts.as<std::int32_t>()[op.edges->n_atoms()];
  context.for_rows(n_edges, [&](std::int64_t e, std::int64_t end) {
    for (; e < end; ++e) grad_of_edge(op, e);
  });
}

}  // namespace biogpu::ops
