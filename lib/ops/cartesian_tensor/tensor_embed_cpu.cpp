#include "lib/ops/cartesian_tensor/tensor_embed.hpp"

#include "lib/ops/cartesian_tensor/tensor_lanes.hpp"
#include "lib/ops/cartesian_tensor/tensor_parts.hpp"

namespace biogpu::ops {

void tensor_embed_cpu(CpuContext& context, const TensorEmbed& op) {
  const std::int64_t step = number_step(op.out), d = op.out.shape[2];
  const auto* const starts = op.edges->starts.as<std::int32_t>();
  const auto row = [&](std::int64_t i) {
    float* const out = op.out.as<float>() + i * d;
    for (int c = 0; c < kTensorNumbers; ++c) std::fill_n(out + c * step, d, 0.0f);
    for (std::int64_t e = starts[i]; e < starts[i + 1]; ++e) {
      const Numbers9<float> numbers = direction_numbers(Direction<float>(
          op.edges->displacement.as<float>() + 3 * e, op.edges->distance.as<float>()[e]));
      for (int c = 0; c < kTensorNumbers; ++c) {
        const float* const weights =
            op.weights.as<float>() + (3 * e + part_of(c, kTensorNumbers)) * d;
        float* const sums = out + c * step;
        for (std::int64_t f = 0; f < d; f += kLanes)
          store_lanes(load_lanes(sums + f, d - f) + numbers.n[c] * load_lanes(weights + f, d - f),
                      sums + f, d - f);
      }
    }
  };
  context.for_rows(op.out.shape[1], [&](std::int64_t i, std::int64_t end) {
    for (; i < end; ++i) row(i);
  });
}

}  // namespace biogpu::ops
