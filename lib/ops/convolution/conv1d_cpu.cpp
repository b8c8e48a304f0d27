// Convolutions as products over packed weights. The rows that a result reads lie next to each
// other, so x is multiplied where it is, each row of the product beginning `stride` rows after the
// one before; only tiles at a segment's ends are copied, with zeros around them.
#include "lib/core/simd_targets.hpp"
// The settings come first; foreach_target.h compiles this file once per target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/ops/convolution/conv1d_cpu.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h by its rules.
#include <hwy/highway.h>

#include <algorithm>

#include "lib/ops/convolution/conv1d.hpp"
#include "lib/ops/cpu/cpu_context.hpp"
#include "lib/ops/cpu/outputs-inl.hpp"
#include "lib/ops/cpu/panel_tiles-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::ops {
namespace HWY_NAMESPACE {

// What follows the sums of a tile, in one vector of columns.
void finish_conv1d(const Conv1d& op, std::int64_t row, int n_rows, std::int64_t column,
                   const float* sums) {
  const F32 f32;
  const std::size_t lanes = hn::Lanes(f32);
  const auto n = std::min(lanes, static_cast<std::size_t>(op.linear->n_out - column));
  const Vec bias =
      op.linear->bias.empty() ? hn::Zero(f32) : load_first(op.linear->bias.as<float>() + column, n);
  const ColumnOutputs outputs(op.out, op.activated, column, n);
  for (int r = 0; r < n_rows; ++r, sums += 2 * lanes) {
    Vec y = hn::Add(hn::Load(f32, sums), bias);
    if (!op.residual.empty())
      y = hn::Add(y, load_first(op.residual.row<float>(row + r) + column, n));
    outputs.store(row + r, y);
  }
}

// Rows of a tile that begins at result q of a segment, rows x of n, where they are, or copied with
// zeros around them.
Factors tile_rows(const Conv1d& op, Tensor x, std::int64_t q, int n_rows, Scratch& scratch) {
  const std::int64_t d = x.shape[1];
  const std::int64_t first = q * op.stride - (op.taps - 1) / 2;
  const std::int64_t last = first + (n_rows - 1) * op.stride + op.taps;
  if (first >= 0 && last <= x.shape[0]) return {x.row<float>(first), op.stride * d, 1};
  float* const copy = scratch.reserve((last - first) * d);
  const std::int64_t begin = std::clamp<std::int64_t>(0, first, last),
                     end = std::clamp(x.shape[0], begin, last);
  std::fill(copy, copy + (begin - first) * d, 0.0f);
  std::copy(x.row<float>(begin), x.row<float>(end), copy + (begin - first) * d);
  std::fill(copy + (end - first) * d, copy + (last - first) * d, 0.0f);
  return {copy, op.stride * d, 1};
}

// x: rows of the block's segment; out_row: the segment's first of the results.
void convolve_block(const Conv1d& op, const Tensor& x, std::int64_t out_row, const RowBlock& block,
                    const PanelRange& panels, Scratch& scratch) {
  for_panel_tiles(
      *op.linear, block, panels,
      [&](std::int64_t q, int n_rows) HWY_ATTR { return tile_rows(op, x, q, n_rows, scratch); },
      [&](std::int64_t q, int n_rows, std::int64_t column, const float* sums)
          HWY_ATTR { finish_conv1d(op, out_row + q, n_rows, column, sums); });
}

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::ops
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace biogpu::ops {

HWY_EXPORT(convolve_block);

void conv1d_cpu(CpuContext& context, const Conv1d& op) {
  constexpr std::int64_t kRowBlock = 140;  // as gemm's
  // With one tap rows are independent: one segment.
  Ragged all;
  all.n_segments = 1;
  all.starts = {0, static_cast<std::int32_t>(op.x.shape[0])};
  const bool pointwise = op.taps == 1 && op.stride == 1;
  const Ragged& in = pointwise ? all : *op.segments;
  const Ragged& out = pointwise ? all : op.stride == 1 ? *op.segments : *op.out_segments;
  const std::vector<RowBlock> blocks = row_blocks(out, kRowBlock);
  for_panels(context, static_cast<std::int64_t>(blocks.size()), count_panels(op.linear->n_out),
             [&](std::int64_t i, const PanelRange& panels) {
               const RowBlock& block = blocks[static_cast<std::size_t>(i)];
               const std::int64_t s = block.segment;
               HWY_DYNAMIC_DISPATCH(convolve_block)
               (op, op.x.slice(0, in.begin(s), in.end(s)), out.begin(s), block, panels,
                context.scratch());
             });
}

}  // namespace biogpu::ops
#endif
