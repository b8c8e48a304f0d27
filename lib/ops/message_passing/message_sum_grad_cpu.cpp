#include "lib/core/simd_targets.hpp"
// The settings come first; foreach_target.h compiles this file once per target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/ops/message_passing/message_sum_grad_cpu.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h by its rules.
#include <hwy/highway.h>

#include <algorithm>

#include "lib/ops/cpu/cpu_context.hpp"
#include "lib/ops/cpu/row-inl.hpp"
#include "lib/ops/message_passing/message_sum_grad.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::ops {
namespace HWY_NAMESPACE {

// Both gradients of one edge: a part's weight is complete before it is stored.
HWY_INLINE void grad_of_edge(const MessageSumGrad& op, std::int64_t i, std::int64_t e) {
  const std::int64_t n_numbers = op.x.shape[0], n_parts = op.weights.shape[1], d = op.x.shape[2];
  const std::int64_t number = op.x.shape[1] * d;  // from one number to the next
  const std::int64_t own = i * d, other = op.edges->neighbours.as<std::int32_t>()[e] * d;
  const float *const x = op.x.as<float>(), *const g = op.d_out.as<float>();
  const float* const weights =
      op.weights.as<float>() + op.edges->reverse.as<std::int32_t>()[e] * n_parts * d;
  for (std::int64_t p = 0; p < n_parts; ++p) {
    const std::int64_t first = p == 2 ? 4 : p;
    const std::int64_t end = p == 2 ? n_numbers : p == 1 ? 4 : 1;
    for_vectors(d, [&](std::int64_t f, std::size_t n) HWY_ATTR {
      const Vec weight = load_first(weights + p * d + f, n);
      Vec sum = hn::Zero(F32());
      for (std::int64_t c = first; c < end; ++c) {
        const std::int64_t at = c * number + f;
        sum = hn::MulAdd(load_first(g + own + at, n), load_first(x + other + at, n), sum);
        float* const d_x = op.d_x.as<float>() + own + at;
        store_first(hn::MulAdd(weight, load_first(g + other + at, n), load_first(d_x, n)), n, d_x);
      }
      store_first(sum, n, op.d_weights.as<float>() + (e * n_parts + p) * d + f);
    });
  }
}

void grad_of_atom(const MessageSumGrad& op, std::int64_t i) {
  const std::int64_t d = op.x.shape[2];
  for (std::int64_t c = 0; c < op.x.shape[0]; ++c)
    std::fill_n(op.d_x.as<float>() + (c * op.x.shape[1] + i) * d, d, 0.0f);
  const auto* const starts = op.edges->starts.as<std::int32_t>();
  for (std::int64_t e = starts[i]; e < starts[i + 1]; ++e) grad_of_edge(op, i, e);
}

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::ops
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace biogpu::ops {

HWY_EXPORT(grad_of_atom);

void message_sum_grad_cpu(CpuContext& context, const MessageSumGrad& op) {
  context.for_rows(op.x.shape[1], [&](std::int64_t i, std::int64_t end) {
    for (; i < end; ++i) HWY_DYNAMIC_DISPATCH(grad_of_atom)(op, i);
  });
}

}  // namespace biogpu::ops
#endif
