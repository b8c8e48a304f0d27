#include "lib/core/simd_targets.hpp"
// The settings come first; foreach_target.h compiles this file once per target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/ops/reduction/adaptive_mean_cpu.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h by its rules.
#include <hwy/highway.h>

#include <fmt/format.h>

#include "lib/core/error.hpp"
#include "lib/ops/cpu/cpu_context.hpp"
#include "lib/ops/cpu/row-inl.hpp"
#include "lib/ops/reduction/adaptive_mean.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::ops {
namespace HWY_NAMESPACE {

void adapt_row(const AdaptiveMean& op, std::int64_t b, std::int64_t i) {
  const F32 f32;
  const AdaptiveRange range = adaptive_range(i, op.x.shape[1], op.out.shape[1]);
  const float* const from = op.x.row<float>(b) + range.begin * op.x.stride[1];
  float* const to = op.out.row<float>(b) + i * op.out.stride[1];
  const std::int64_t n = range.end - range.begin;
  for_vectors(op.x.shape[2], [&](std::int64_t column, std::size_t lanes) HWY_ATTR {
    Vec sum = load_first(from + column, lanes);
    for (std::int64_t j = 1; j < n; ++j)
      sum = hn::Add(sum, load_first(from + j * op.x.stride[1] + column, lanes));
    store_first(hn::Div(sum, hn::Set(f32, static_cast<float>(n))), lanes, to + column);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::ops
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace biogpu::ops {

HWY_EXPORT(adapt_row);

void check(const AdaptiveMean& op) {
  const bool fits = op.x.rank == 3 && op.out.rank == 3 && op.x.shape[0] == op.out.shape[0] &&
                    op.x.shape[2] == op.out.shape[2] && op.x.shape[1] > 0;
  if (!fits)
    throw Error(ErrorCode::failed,
                fmt::format("adaptive_mean: x {}, out {}; expected [B, n, C] and [B, m, C] with n "
                            "above 0",
                            describe(op.x), describe(op.out)));
}

void adaptive_mean_cpu(CpuContext& context, const AdaptiveMean& op) {
  const std::int64_t m = op.out.shape[1];
  context.for_rows(op.out.shape[0] * m, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row)
      HWY_DYNAMIC_DISPATCH(adapt_row)(op, row / m, row % m);
  });
}

}  // namespace biogpu::ops
#endif
