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

// The groups of a row.
void normalise_groups(const AddLayerNorm& op, const float* x, float* out, float* out_operand) {
  const std::int64_t d = op.x.shape[1] / op.n_groups;
  const auto part_of = [&](const Tensor& columns, std::int64_t g) {
    return columns.empty() ? columns : columns.slice(0, g * d, (g + 1) * d);
  };
  const auto after = [&](float* row, std::int64_t g) { return row == nullptr ? row : row + g * d; };
  for (std::int64_t g = 0; g < op.n_groups; ++g) {
    const Norm norm{part_of(op.norm.weight, g), part_of(op.norm.bias, g), op.norm.eps};
    if (op.kind == NormKind::rms) {
      normalise<false>(x + g * d, d, norm, after(out, g), after(out_operand, g));
    } else {
      normalise<true>(x + g * d, d, norm, after(out, g), after(out_operand, g));
    }
  }
}

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
    if (out != nullptr || out_operand != nullptr) normalise_groups(op, x, out, out_operand);
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
