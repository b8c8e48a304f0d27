#include "lib/core/simd_targets.hpp"
// The settings come first; foreach_target.h compiles this file once per target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/ops/normalisation/softmax_cpu.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h by its rules.
#include <hwy/highway.h>

#include <cmath>
#include <limits>

#include "lib/ops/cpu/cpu_context.hpp"
#include "lib/ops/cpu/row-inl.hpp"
#include "lib/ops/normalisation/softmax.hpp"
#include "lib/ops/normalisation/softmax_lines.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::ops {
namespace HWY_NAMESPACE {

// e^(z - top) for z up to top, NaN of NaN.
HWY_INLINE Vec power_below(Vec z, Vec top) {
  const Vec x = hn::Sub(z, top);
  return hn::IfThenElse(hn::Eq(x, x), exp_of(x), x);
}

// Logits of one line, side by side, to their results.
void softmax_of_line(float* z, std::int64_t length, bool log) {
  const F32 f32;
  const Vec lowest = hn::Set(f32, -std::numeric_limits<float>::infinity());
  Vec tops = lowest;
  for_vectors(length, [&](std::int64_t i, std::size_t n) HWY_ATTR {
    const Vec x = hn::IfThenElse(hn::FirstN(f32, n), load_first(z + i, n), lowest);
    tops = hn::IfThenElse(hn::Gt(x, tops), x, tops);
  });
  const float top = hn::GetLane(hn::MaxOfLanes(f32, tops));
  if (top == -std::numeric_limits<float>::infinity()) {
    for (std::int64_t i = 0; i < length; ++i) z[i] = std::isnan(z[i]) ? z[i] : log ? top : 0.0f;
    return;
  }
  const Vec at_top = hn::Set(f32, top);
  Vec sums = hn::Zero(f32);
  for_vectors(length, [&](std::int64_t i, std::size_t n) HWY_ATTR {
    const Vec y = power_below(load_first(z + i, n), at_top);
    sums = hn::Add(sums, hn::IfThenElseZero(hn::FirstN(f32, n), y));
    if (!log) store_first(y, n, z + i);
  });
  const float sum = hn::GetLane(hn::SumOfLanes(f32, sums));
  const Vec factor = hn::Set(f32, 1 / sum), log_sum = hn::Set(f32, std::log(sum));
  for_vectors(length, [&](std::int64_t i, std::size_t n) HWY_ATTR {
    const Vec x = load_first(z + i, n);
    store_first(log ? hn::Sub(hn::Sub(x, at_top), log_sum) : hn::Mul(x, factor), n, z + i);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::ops
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace biogpu::ops {

HWY_EXPORT(softmax_of_line);

namespace {

// The first elements of a line.
struct LineStart {
  std::int64_t of[SoftmaxLines::kArrays] = {};
};

LineStart start_of_line(const SoftmaxLines& lines, std::int64_t line) {
  LineStart start;
  for (int i = SoftmaxLines::kOthers; i-- > 0;) {
    const std::int64_t index = line % lines.shape[i];
    line /= lines.shape[i];
    for (int a = 0; a < SoftmaxLines::kArrays; ++a) start.of[a] += index * lines.stride[a][i];
  }
  return start;
}

void gather_logits(const Softmax& op, const SoftmaxLines& lines, const LineStart& start,
                   float* logits) {
  using enum SoftmaxLines::Array;
  const float* const x = op.x.as<float>() + start.of[kX];
  for (std::int64_t i = 0; i < lines.length; ++i) logits[i] = x[i * lines.step[kX]] * op.scale;
  if (op.mask.empty()) return;
  const std::int64_t at = start.of[kMask], step = lines.step[kMask];
  for (std::int64_t i = 0; i < lines.length; ++i) {
    if (op.mask.dtype != DType::u8) {
      logits[i] += op.mask.as<float>()[at + i * step];
    } else if (op.mask.as<std::uint8_t>()[at + i * step] == 0) {
      logits[i] = op.masked;
    }
  }
}

}  // namespace

void softmax_cpu(CpuContext& context, const Softmax& op) {
  const SoftmaxLines lines = softmax_lines(op);
  if (lines.length == 0) return;
  context.for_rows(lines.n_lines, [&](std::int64_t line, std::int64_t end) {
    float* const logits = context.scratch().reserve(lines.length);
    for (; line < end; ++line) {
      const LineStart start = start_of_line(lines, line);
      gather_logits(op, lines, start, logits);
      HWY_DYNAMIC_DISPATCH(softmax_of_line)(logits, lines.length, op.log);
      float* const out = op.out.as<float>() + start.of[SoftmaxLines::kOut];
      for (std::int64_t i = 0; i < lines.length; ++i)
        out[i * lines.step[SoftmaxLines::kOut]] = logits[i];
    }
  });
}

}  // namespace biogpu::ops
#endif
