// Matrix products over packed weights, with what follows them in the same pass.
#include "lib/core/simd_targets.hpp"
// The settings come first; foreach_target.h compiles this file once per target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/nn/cpu/gemm.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h by its rules.
#include <hwy/highway.h>

#include <algorithm>

#include "lib/nn/cpu/kernels.hpp"
#include "lib/nn/cpu/tile-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::nn {
namespace HWY_NAMESPACE {

std::int64_t width_of_panel() { return static_cast<std::int64_t>(2 * hn::Lanes(F32())); }

// What follows the sums of one vector: n_columns of its lanes are stored.
HWY_INLINE void store_columns(const Gemm& op, std::int64_t row, std::int64_t column,
                              std::size_t n_columns, Vec sum) {
  const F32 f32;
  const auto at = static_cast<std::size_t>(column);
  const bool whole = n_columns >= hn::Lanes(f32);
  const auto mask = hn::FirstN(f32, n_columns);
  const auto load = [&](const float* from) {
    return whole ? hn::LoadU(f32, from) : hn::MaskedLoad(mask, f32, from);
  };
  if (!op.linear->bias.empty()) sum = hn::Add(sum, load(op.linear->bias.as<float>() + at));
  if (op.activation == Activation::gelu_erf) sum = gelu_erf(sum);
  if (!op.residual.empty()) sum = hn::Add(sum, load(op.residual.row<float>(row) + at));
  float* const to = op.out.row<float>(row) + at;
  if (whole) {
    hn::StoreU(sum, f32, to);
  } else {
    hn::BlendedStore(sum, mask, f32, to);
  }
}

// A panel's rows are multiplied while it lies in the nearest cache.
void multiply(const Gemm& op, const cpu::GemmPart& part) {
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(F32())), width = 2 * lanes;
  const std::int64_t n_in = op.linear->n_in, n_out = op.linear->n_out;
  const auto* const packed = static_cast<const float*>(op.linear->packed);
  for (std::int64_t p = part.panel_begin; p < part.panel_end; ++p) {
    const float* const panel = packed + p * width * n_in;
    const std::int64_t column = p * width;
    const auto n_first = static_cast<std::size_t>(std::min(lanes, n_out - column));
    const auto n_second =
        static_cast<std::size_t>(std::clamp<std::int64_t>(n_out - column - lanes, 0, lanes));
    for (std::int64_t row = part.row_begin; row < part.row_end; row += kTileRows) {
      const int n_rows = static_cast<int>(std::min<std::int64_t>(kTileRows, part.row_end - row));
      const auto store = [&](int r, Vec first, Vec second) HWY_ATTR {
        store_columns(op, row + r, column, n_first, first);
        if (n_second > 0) store_columns(op, row + r, column + lanes, n_second, second);
      };
      tile_of<2>(n_rows, op.x.row<float>(row), op.x.stride[0], panel, n_in, store);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::nn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace biogpu::nn::cpu {

HWY_EXPORT(width_of_panel);
HWY_EXPORT(multiply);

std::int64_t panel_width() { return HWY_DYNAMIC_DISPATCH(width_of_panel)(); }

std::int64_t packed_size(std::int64_t n_out, std::int64_t n_in) {
  const std::int64_t width = panel_width();
  return (n_out + width - 1) / width * width * n_in;
}

void pack_weight(const Tensor& weight, float* packed) {
  const std::int64_t n_out = weight.shape[0], n_in = weight.shape[1], width = panel_width();
  for (std::int64_t begin = 0; begin < n_out; begin += width)
    for (std::int64_t k = 0; k < n_in; ++k)
      for (std::int64_t n = begin; n < begin + width; ++n)
        *packed++ = n < n_out ? weight.row<float>(n)[k] : 0.0f;
}

void gemm_part(const Gemm& op, const GemmPart& part) { HWY_DYNAMIC_DISPATCH(multiply)(op, part); }

}  // namespace biogpu::nn::cpu
#endif
