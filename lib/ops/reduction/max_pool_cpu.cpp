#include "lib/core/simd_targets.hpp"
// The settings come first; foreach_target.h compiles this file once per target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/ops/reduction/max_pool_cpu.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h by its rules.
#include <hwy/highway.h>

#include <algorithm>

#include "lib/ops/cpu/cpu_context.hpp"
#include "lib/ops/cpu/outputs-inl.hpp"
#include "lib/ops/cpu/row-inl.hpp"
#include "lib/ops/cpu/row_blocks.hpp"
#include "lib/ops/reduction/max_pool.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::ops {
namespace HWY_NAMESPACE {

// Of two numbers, or what is none.
HWY_INLINE Vec larger(Vec x, Vec y) {
  return hn::IfThenElse(hn::Or(hn::Gt(y, x), hn::IsNaN(y)), y, x);
}

void pool_rows(const MaxPool& op, const RowBlock& block) {
  const std::int64_t begin = op.segments->begin(block.segment),
                     end = op.segments->end(block.segment);
  for_vectors(op.x.shape[1], [&](std::int64_t column, std::size_t lanes) HWY_ATTR {
    const ColumnOutputs outputs(op.out, op.activated, column, lanes);
    for (std::int64_t q = block.begin; q < block.end; ++q) {
      const std::int64_t first = begin + q * op.size, last = std::min(first + op.size, end);
      Vec y = load_first(op.x.row<float>(first) + column, lanes);
      for (std::int64_t t = first + 1; t < last; ++t)
        y = larger(y, load_first(op.x.row<float>(t) + column, lanes));
      outputs.store(op.out_segments->begin(block.segment) + q, y);
    }
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::ops
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace biogpu::ops {

HWY_EXPORT(pool_rows);

void max_pool_cpu(CpuContext& context, const MaxPool& op) {
  const std::vector<RowBlock> blocks = row_blocks(*op.out_segments, 16);
  context.for_each(static_cast<std::int64_t>(blocks.size()), [&](std::int64_t i) {
    HWY_DYNAMIC_DISPATCH(pool_rows)(op, blocks[static_cast<std::size_t>(i)]);
  });
}

}  // namespace biogpu::ops
#endif
