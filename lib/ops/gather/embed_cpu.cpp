#include "lib/core/simd_targets.hpp"
// The settings come first; foreach_target.h compiles this file once per target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/ops/gather/embed_cpu.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h by its rules.
#include <hwy/highway.h>

#include "lib/ops/cpu/cpu_context.hpp"
#include "lib/ops/cpu/row-inl.hpp"
#include "lib/ops/gather/embed.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::ops {
namespace HWY_NAMESPACE {

void embed_rows(const Embed& op, std::int64_t begin, std::int64_t end) {
  const F32 f32;
  const std::int64_t d = op.table.shape[1];
  for (std::int64_t t = begin; t < end; ++t) {
    const float* const row = op.table.row<float>(op.ids.as<std::int32_t>()[t]);
    const Vec scale = hn::Set(f32, op.scale.empty() ? 1.0f : op.scale.as<float>()[t]);
    const float* const position =
        op.position_table.empty()
            ? nullptr
            : op.position_table.row<float>(op.positions.as<std::int32_t>()[t]);
    float* const out = row_or_null(op.out, t);
    float* const out_operand = row_or_null(op.out_operand, t);
    float* const sum = op.sum.empty() ? (out != nullptr ? out : out_operand) : op.sum.row<float>(t);
    for_vectors(d, [&](std::int64_t i, std::size_t n) HWY_ATTR {
      Vec x = hn::Mul(load_first(row + i, n), scale);
      if (position != nullptr) x = hn::Add(x, load_first(position + i, n));
      store_first(x, n, sum + i);
    });
    if (!op.norm.weight.empty()) normalise(sum, d, op.norm, out, out_operand);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::ops
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace biogpu::ops {

HWY_EXPORT(embed_rows);

void embed_cpu(CpuContext& context, const Embed& op) {
  context.for_rows(op.ids.shape[0], [&](std::int64_t begin, std::int64_t end) {
    HWY_DYNAMIC_DISPATCH(embed_rows)(op, begin, end);
  });
}

}  // namespace biogpu::ops
#endif
