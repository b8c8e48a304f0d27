// Pools of pairs of rows: the differences, then their product with what follows it in one pass.
#include "lib/core/simd_targets.hpp"
// The settings come first; foreach_target.h compiles this file once per target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/ops/reduction/attention_pool_cpu.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h by its rules.
#include <hwy/highway.h>

#include <algorithm>

#include "lib/ops/cpu/cpu_context.hpp"
#include "lib/ops/cpu/outputs-inl.hpp"
#include "lib/ops/cpu/panel_tiles-inl.hpp"
#include "lib/ops/cpu/row-inl.hpp"
#include "lib/ops/reduction/attention_pool.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::ops {
namespace HWY_NAMESPACE {

// The second row of a pair: a segment's last row is paired with itself.
std::int64_t second_row(const AttentionPool& op, std::int64_t segment, std::int64_t q) {
  return std::min(op.segments->begin(segment) + 2 * q + 1, op.segments->end(segment) - 1);
}

void subtract_pairs(const AttentionPool& op, const RowBlock& block) {
  const std::int64_t begin = op.segments->begin(block.segment);
  for (std::int64_t q = block.begin; q < block.end; ++q) {
    const float* const first = op.x.row<float>(begin + 2 * q);
    const float* const second = op.x.row<float>(second_row(op, block.segment, q));
    float* const to = op.differences.row<float>(op.out_segments->begin(block.segment) + q);
    for_vectors(op.x.shape[1], [&](std::int64_t i, std::size_t n) HWY_ATTR {
      store_first(hn::Sub(load_first(first + i, n), load_first(second + i, n)), n, to + i);
    });
  }
}

// Rows q and further of a segment, one vector of columns of their products.
void finish_pairs(const AttentionPool& op, std::int64_t segment, std::int64_t q, int n_rows,
                  std::int64_t column, const float* sums) {
  const F32 f32;
  const std::size_t lanes = hn::Lanes(f32);
  const auto n = std::min(lanes, static_cast<std::size_t>(op.linear->n_out - column));
  const ColumnOutputs outputs(op.out, op.activated, column, n);
  const std::int64_t row = op.out_segments->begin(segment) + q;
  for (int r = 0; r < n_rows; ++r, sums += 2 * lanes) {
    const Vec weight = sigmoid(hn::Load(f32, sums));
    const Vec apart = load_first(op.differences.row<float>(row + r) + column, n);
    const Vec second = load_first(op.x.row<float>(second_row(op, segment, q + r)) + column, n);
    outputs.store(row + r, hn::MulAdd(weight, apart, second));
  }
}

void pool_pairs(const AttentionPool& op, const RowBlock& block, const PanelRange& panels) {
  const std::int64_t row = op.out_segments->begin(block.segment);
  for_panel_tiles(
      *op.linear, block, panels,
      [&](std::int64_t q, int) HWY_ATTR {
        return Factors{op.differences.row<float>(row + q), op.differences.stride[0], 1};
      },
      [&](std::int64_t q, int n_rows, std::int64_t column, const float* sums)
          HWY_ATTR { finish_pairs(op, block.segment, q, n_rows, column, sums); });
}

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::ops
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace biogpu::ops {

HWY_EXPORT(subtract_pairs);
HWY_EXPORT(pool_pairs);

void attention_pool_cpu(CpuContext& context, const AttentionPool& op) {
  const std::vector<RowBlock> blocks = row_blocks(*op.out_segments, 140);  // as gemm's
  const auto n_blocks = static_cast<std::int64_t>(blocks.size());
  context.for_each(n_blocks, [&](std::int64_t i) {
    HWY_DYNAMIC_DISPATCH(subtract_pairs)(op, blocks[static_cast<std::size_t>(i)]);
  });
  for_panels(context, n_blocks, count_panels(op.linear->n_out),
             [&](std::int64_t i, const PanelRange& panels) {
               HWY_DYNAMIC_DISPATCH(pool_pairs)(op, blocks[static_cast<std::size_t>(i)], panels);
             });
}

}  // namespace biogpu::ops
#endif
