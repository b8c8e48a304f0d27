#include "lib/core/simd_targets.hpp"
// The settings come first; foreach_target.h compiles this file once per target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/ops/normalisation/add_layer_norm_cpu.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h by its rules.
#include <hwy/highway.h>

#include "lib/ops/cpu/cpu_context.hpp"
#include "lib/ops/cpu/row-inl.hpp"
#include "lib/ops/normalisation/add_layer_norm.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::ops {
namespace HWY_NAMESPACE {

void layer_norm_rows(const AddLayerNorm& op, std::int64_t begin, std::int64_t end) {
  const std::int64_t d = op.x.shape[1];
  for (std::int64_t r = begin; r < end; ++r) {
    const float* x = op.x.row<float>(r);
    float* const out = row_or_null(op.out, r);
    float* const out_operand = row_or_null(op.out_operand, r);
    if (!op.add.empty() || !op.sum.empty()) {
      float* const sum =
          op.sum.empty() ? (out != nullptr ? out : out_operand) : op.sum.row<float>(r);
      const float* const add = op.add.empty() ? nullptr : op.add.row<float>(r);
      for_vectors(d, [&](std::int64_t i, std::size_t n) HWY_ATTR {
        Vec y = load_first(x + i, n);
        if (add != nullptr) y = hn::Add(y, load_first(add + i, n));
        store_first(y, n, sum + i);
      });
      x = sum;
    }
    normalise(x, d, op.norm, out, out_operand);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::ops
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace biogpu::ops {

HWY_EXPORT(layer_norm_rows);

void add_layer_norm_cpu(CpuContext& context, const AddLayerNorm& op) {
  context.for_rows(op.x.shape[0], [&](std::int64_t begin, std::int64_t end) {
    HWY_DYNAMIC_DISPATCH(layer_norm_rows)(op, begin, end);
  });
}

}  // namespace biogpu::ops
#endif
