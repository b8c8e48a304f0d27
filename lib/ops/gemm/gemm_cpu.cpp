// Matrix products over packed weights, with what follows them in the same pass.
#include "lib/core/simd_targets.hpp"
// The settings come first; foreach_target.h compiles this file once per target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/ops/gemm/gemm_cpu.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h by its rules.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>

#include "lib/ops/cpu/cpu_context.hpp"
#include "lib/ops/cpu/outputs-inl.hpp"
#include "lib/ops/cpu/panel_work.hpp"
#include "lib/ops/cpu/tile-inl.hpp"
#include "lib/ops/gemm/gemm_panels.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::ops {
namespace HWY_NAMESPACE {

std::int64_t width_of_panel() { return static_cast<std::int64_t>(2 * hn::Lanes(F32())); }

constexpr std::size_t kMaxColumns = 2 * HWY_MAX_BYTES / sizeof(float);

// What follows the sums of a tile, in one vector of columns. Out of the registers, so that the
// steps of several rows overlap: those of one wait for each other.
template <Activation kActivation, bool kResidual>
void finish(const Gemm& op, std::int64_t row, int n_rows, std::int64_t column, const float* sums) {
  const F32 f32;
  const std::size_t lanes = hn::Lanes(f32), at = static_cast<std::size_t>(column);
  const auto n = std::min(lanes, static_cast<std::size_t>(op.linear->n_out) - at);
  const Vec bias =
      op.linear->bias.empty() ? hn::Zero(f32) : load_first(op.linear->bias.as<float>() + at, n);
  for (int r = 0; r < n_rows; ++r, sums += 2 * lanes) {
    Vec y = hn::Add(hn::Load(f32, sums), bias);
    y = activate<kActivation>(y);
    if constexpr (kResidual) y = hn::Add(y, load_first(op.residual.row<float>(row + r) + at, n));
    store_first(y, n, op.out.row<float>(row + r) + at);
  }
}

// Rows of what a tile's sums are added to or stored in, asked for before they are multiplied.
HWY_INLINE void prefetch_rows(const Tensor& to, std::int64_t row, int n_rows, std::int64_t column,
                              std::int64_t width) {
  for (int r = 0; r < n_rows; ++r)
    for (std::int64_t at = column; at < std::min(column + width, to.shape[1]);
         at += static_cast<std::int64_t>(kFloatsOfLine))
      hwy::Prefetch(to.row<float>(row + r) + at);
}

using Finish = void (*)(const Gemm&, std::int64_t, int, std::int64_t, const float*);
Finish finish_of(const Gemm& op) {
  switch (op.activation) {
    case Activation::none:
      break;
    case Activation::gelu_erf:
      return finish<Activation::gelu_erf, false>;
    case Activation::gelu_sigmoid:
      return finish<Activation::gelu_sigmoid, false>;
    case Activation::gelu_tanh:
      return finish<Activation::gelu_tanh, false>;
    case Activation::relu:
      return finish<Activation::relu, false>;
    case Activation::softplus:
      return finish<Activation::softplus, false>;
  }
  return op.residual.empty() ? finish<Activation::none, false> : finish<Activation::none, true>;
}

// A panel's rows are multiplied while it lies in the nearest cache.
void multiply(const Gemm& op, const GemmPart& part) {
  const F32 f32;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(f32)), width = 2 * lanes;
  const std::int64_t n_in = op.linear->n_in, n_out = op.linear->n_out;
  const auto* const packed = static_cast<const float*>(op.linear->packed);
  const Finish finish_vector = finish_of(op);
  const Tensor& target = op.residual.empty() ? op.out : op.residual;
  HWY_ALIGN float sums[kTileRows * kMaxColumns];
  const auto store = [&](int r, Vec first, Vec second) HWY_ATTR {
    hn::Store(first, f32, sums + r * width);
    hn::Store(second, f32, sums + r * width + lanes);
  };
  for (std::int64_t p = part.panel_begin; p < part.panel_end; ++p) {
    const std::int64_t column = p * width;
    for (std::int64_t row = part.row_begin; row < part.row_end; row += kTileRows) {
      const int n_rows = static_cast<int>(std::min<std::int64_t>(kTileRows, part.row_end - row));
      prefetch_rows(target, row, n_rows, column, width);
      tile_of<2>(n_rows, {op.x.row<float>(row), op.x.stride[0], 1}, packed + column * n_in, n_in,
                 store);
      finish_vector(op, row, n_rows, column, sums);
      if (column + lanes < n_out) finish_vector(op, row, n_rows, column + lanes, sums + lanes);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::ops
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace biogpu::ops {

HWY_EXPORT(width_of_panel);
HWY_EXPORT(multiply);

std::int64_t panel_width() { return HWY_DYNAMIC_DISPATCH(width_of_panel)(); }

std::int64_t count_panels(std::int64_t n_out) {
  return (n_out + panel_width() - 1) / panel_width();
}

std::int64_t packed_size(std::int64_t n_out, std::int64_t n_in) {
  return count_panels(n_out) * panel_width() * n_in;
}

void pack_panel(const Tensor& weight, std::int64_t panel, float* packed) {
  const std::int64_t n_out = weight.shape[0], n_in = weight.shape[1], width = panel_width();
  const std::int64_t begin = panel * width;
  float* to = packed + begin * n_in;
  for (std::int64_t k = 0; k < n_in; ++k)
    for (std::int64_t n = begin; n < begin + width; ++n)
      *to++ = n < n_out ? weight.row<float>(n)[k] : 0.0f;
}

void pack_weight(const Tensor& weight, float* packed) {
  for (std::int64_t p = 0; p < count_panels(weight.shape[0]); ++p) pack_panel(weight, p, packed);
}

void gemm_part(const Gemm& op, const GemmPart& part) { HWY_DYNAMIC_DISPATCH(multiply)(op, part); }

void gemm_cpu(CpuContext& context, const Gemm& op) {
  // Rows that one thread takes at a time: whole tiles of 14, and enough that a panel which comes
  // from memory is worth its way.
  constexpr std::int64_t kRowBlock = 140;
  const std::int64_t n_rows = op.x.shape[0];
  for_panels(context, (n_rows + kRowBlock - 1) / kRowBlock, count_panels(op.linear->n_out),
             [&](std::int64_t block, const PanelRange& panels) {
               gemm_part(op, {block * kRowBlock, std::min(n_rows, (block + 1) * kRowBlock),
                              panels.begin, panels.end});
             });
}

}  // namespace biogpu::ops
#endif
