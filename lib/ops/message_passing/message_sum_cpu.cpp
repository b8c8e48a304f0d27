#include "lib/core/simd_targets.hpp"
// The settings come first; foreach_target.h compiles this file once per target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/ops/message_passing/message_sum_cpu.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h by its rules.
#include <hwy/highway.h>

#include <algorithm>

#include "lib/ops/cartesian_tensor/tensor_parts.hpp"
#include "lib/ops/cpu/cpu_context.hpp"
#include "lib/ops/cpu/row-inl.hpp"
#include "lib/ops/message_passing/message_sum.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::ops {
namespace HWY_NAMESPACE {

// One atom; its sums stay in the nearest cache through all edges.
void sum_messages_of(const MessageSum& op, std::int64_t i) {
  const auto n_numbers = static_cast<int>(op.x.shape[0]);
  const std::int64_t n_parts = op.weights.shape[1], d = op.x.shape[2];
  const std::int64_t number = op.x.shape[1] * d;  // from one number to the next
  float* const out = op.out.as<float>() + i * d;
  for (int c = 0; c < n_numbers; ++c) std::fill_n(out + c * number, d, 0.0f);
  const auto* const starts = op.edges->starts.as<std::int32_t>();
  for (std::int64_t e = starts[i]; e < starts[i + 1]; ++e) {
    const float* const x = op.x.as<float>() + op.edges->neighbours.as<std::int32_t>()[e] * d;
    for (int c = 0; c < n_numbers; ++c) {
      const float* const weight =
          op.weights.as<float>() + (e * n_parts + part_of(c, n_numbers)) * d;
      for_vectors(d, [&](std::int64_t f, std::size_t n) HWY_ATTR {
        float* const sum = out + c * number + f;
        store_first(hn::MulAdd(load_first(weight + f, n), load_first(x + c * number + f, n),
                               load_first(sum, n)),
                    n, sum);
      });
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::ops
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace biogpu::ops {

HWY_EXPORT(sum_messages_of);

void message_sum_cpu(CpuContext& context, const MessageSum& op) {
  context.for_rows(op.out.shape[1], [&](std::int64_t i, std::int64_t end) {
    for (; i < end; ++i) HWY_DYNAMIC_DISPATCH(sum_messages_of)(op, i);
  });
}

}  // namespace biogpu::ops
#endif
