#include "lib/core/simd_targets.hpp"
// The settings come first; foreach_target.h compiles this file once per target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/ops/gather/repeat_rows_cpu.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h by its rules.
#include <hwy/highway.h>

#include "lib/ops/cpu/cpu_context.hpp"
#include "lib/ops/cpu/outputs-inl.hpp"
#include "lib/ops/cpu/row-inl.hpp"
#include "lib/ops/cpu/row_blocks.hpp"
#include "lib/ops/gather/repeat_rows.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::ops {
namespace HWY_NAMESPACE {

void repeat_block(const RepeatRows& op, const RowBlock& block) {
  for_vectors(op.x.shape[1], [&](std::int64_t column, std::size_t lanes) HWY_ATTR {
    const ColumnOutputs outputs(op.out, op.activated, column, lanes);
    for (std::int64_t q = block.begin; q < block.end; ++q) {
      const std::int64_t from = op.segments->begin(block.segment) + q / op.factor,
                         to = op.out_segments->begin(block.segment) + q;
      Vec y = load_first(op.x.row<float>(from) + column, lanes);
      if (!op.residual.empty())
        y = hn::Add(y, load_first(op.residual.row<float>(to) + column, lanes));
      outputs.store(to, y);
    }
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::ops
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace biogpu::ops {

HWY_EXPORT(repeat_block);

void repeat_rows_cpu(CpuContext& context, const RepeatRows& op) {
  const std::vector<RowBlock> blocks = row_blocks(*op.out_segments, 16);
  context.for_each(static_cast<std::int64_t>(blocks.size()), [&](std::int64_t i) {
    HWY_DYNAMIC_DISPATCH(repeat_block)(op, blocks[static_cast<std::size_t>(i)]);
  });
}

}  // namespace biogpu::ops
#endif
