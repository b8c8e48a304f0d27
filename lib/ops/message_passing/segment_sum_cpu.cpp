#include "lib/core/simd_targets.hpp"
// The settings come first; foreach_target.h compiles this file once per target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/ops/message_passing/segment_sum_cpu.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h by its rules.
#include <hwy/highway.h>

#include "lib/ops/cpu/cpu_context.hpp"
#include "lib/ops/cpu/row-inl.hpp"
#include "lib/ops/message_passing/segment_sum.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::ops {
namespace HWY_NAMESPACE {

// One row of out: a vector of columns stays in a register through the whole segment.
void sum_of_rows(const SegmentSum& op, std::int64_t r) {
  const F32 f32;
  const std::int64_t begin = op.starts.as<std::int32_t>()[r],
                     end = op.starts.as<std::int32_t>()[r + 1];
  const auto* const order = op.order.as<std::int32_t>();
  for_vectors(op.out.shape[1], [&](std::int64_t i, std::size_t n) HWY_ATTR {
    Vec sum = hn::Zero(f32);
    for (std::int64_t e = begin; e < end; ++e)
      sum = hn::Add(sum, load_first(op.x.row<float>(order != nullptr ? order[e] : e) + i, n));
    if (op.mean && end > begin + 1)
      sum = hn::Div(sum, hn::Set(f32, static_cast<float>(end - begin)));
    store_first(sum, n, op.out.row<float>(r) + i);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::ops
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace biogpu::ops {
namespace {

// Few rows of few columns, as energies of molecules: latency of additions, not their number.
void sum_in_double(const SegmentSum& op, std::int64_t r) {
  const auto* const starts = op.starts.as<std::int32_t>();
  const auto* const order = op.order.as<std::int32_t>();
  for (std::int64_t c = 0; c < op.out.shape[1]; ++c) {
    double sum = 0;
    for (std::int64_t e = starts[r]; e < starts[r + 1]; ++e)
      sum += static_cast<double>(op.x.row<float>(order != nullptr ? order[e] : e)[c]);
    if (op.mean && starts[r + 1] > starts[r] + 1) sum /= starts[r + 1] - starts[r];
    op.out.row<double>(r)[c] = sum;
  }
}

}  // namespace

HWY_EXPORT(sum_of_rows);

void segment_sum_cpu(CpuContext& context, const SegmentSum& op) {
  context.for_rows(op.out.shape[0], [&](std::int64_t r, std::int64_t end) {
    for (; r < end; ++r) {
      if (op.out.dtype == DType::f64) {
        sum_in_double(op, r);
      } else {
        HWY_DYNAMIC_DISPATCH(sum_of_rows)(op, r);
      }
    }
  });
}

}  // namespace biogpu::ops
#endif
