#include "lib/core/simd_targets.hpp"
// The settings come first; foreach_target.h compiles this file once per target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/ops/convolution/depthwise_conv1d_cpu.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h by its rules.
#include <hwy/highway.h>

#include <algorithm>

#include "lib/ops/convolution/depthwise_conv1d.hpp"
#include "lib/ops/cpu/cpu_context.hpp"
#include "lib/ops/cpu/outputs-inl.hpp"
#include "lib/ops/cpu/row-inl.hpp"
#include "lib/ops/cpu/row_blocks.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::ops {
namespace HWY_NAMESPACE {

// Rows of a vector's columns in turn: the rows of all taps but one were read for the result before.
void convolve_channels(const DepthwiseConv1d& op, const RowBlock& block) {
  const std::int64_t taps = op.weight.shape[0], half = (taps - 1) / 2;
  const std::int64_t begin = op.segments->begin(block.segment),
                     n = op.segments->length(block.segment);
  for_vectors(op.x.shape[1], [&](std::int64_t column, std::size_t lanes) HWY_ATTR {
    const ColumnOutputs outputs(op.out, op.activated, column, lanes);
    for (std::int64_t q = block.begin; q < block.end; ++q) {
      const std::int64_t first = std::max<std::int64_t>(0, half - q),
                         last = std::min(taps, n + half - q);
      Vec y = hn::Zero(F32());
      for (std::int64_t tap = first; tap < last; ++tap)
        y = hn::MulAdd(load_first(op.x.row<float>(begin + q + tap - half) + column, lanes),
                       load_first(op.weight.row<float>(tap) + column, lanes), y);
      outputs.store(begin + q, y);
    }
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::ops
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace biogpu::ops {

HWY_EXPORT(convolve_channels);

void depthwise_conv1d_cpu(CpuContext& context, const DepthwiseConv1d& op) {
  const std::vector<RowBlock> blocks = row_blocks(*op.segments, 16);
  context.for_each(static_cast<std::int64_t>(blocks.size()), [&](std::int64_t i) {
    HWY_DYNAMIC_DISPATCH(convolve_channels)(op, blocks[static_cast<std::size_t>(i)]);
  });
}

}  // namespace biogpu::ops
#endif
