#include "lib/core/simd_targets.hpp"
// The settings come first; foreach_target.h compiles this file once per target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/ops/convolution/conv1d_letters_cpu.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h by its rules.
#include <hwy/highway.h>

#include <algorithm>

#include "lib/ops/convolution/conv1d_letters.hpp"
#include "lib/ops/cpu/cpu_context.hpp"
#include "lib/ops/cpu/outputs-inl.hpp"
#include "lib/ops/cpu/row-inl.hpp"
#include "lib/ops/cpu/row_blocks.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::ops {
namespace HWY_NAMESPACE {

// The table of some columns stays in the nearest cache for all rows of the block.
void add_letters(const Conv1dLetters& op, const RowBlock& block) {
  const F32 f32;
  const std::int64_t taps = op.table.shape[0], n_out = op.table.shape[2], half = (taps - 1) / 2;
  const std::int64_t begin = op.segments->begin(block.segment),
                     n = op.segments->length(block.segment);
  const std::uint8_t* const letters = op.letters.as<std::uint8_t>() + begin;
  for_vectors(n_out, [&](std::int64_t column, std::size_t lanes) HWY_ATTR {
    const ColumnOutputs outputs(op.out, op.activated, column, lanes);
    const Vec bias =
        op.bias.empty() ? hn::Zero(f32) : load_first(op.bias.as<float>() + column, lanes);
    const float* const table = op.table.as<float>() + column;
    for (std::int64_t t = block.begin; t < block.end; ++t) {
      Vec y = bias;
      for (std::int64_t tap = std::max<std::int64_t>(0, half - t);
           tap < std::min(taps, n + half - t); ++tap)
        y = hn::Add(
            y, load_first(table + (tap * kLetterCodes + letters[t + tap - half]) * n_out, lanes));
      outputs.store(begin + t, y);
    }
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::ops
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace biogpu::ops {

HWY_EXPORT(add_letters);

void conv1d_letters_cpu(CpuContext& context, const Conv1dLetters& op) {
  const std::vector<RowBlock> blocks = row_blocks(*op.segments, 128);
  context.for_each(static_cast<std::int64_t>(blocks.size()), [&](std::int64_t i) {
    HWY_DYNAMIC_DISPATCH(add_letters)(op, blocks[static_cast<std::size_t>(i)]);
  });
}

}  // namespace biogpu::ops
#endif
