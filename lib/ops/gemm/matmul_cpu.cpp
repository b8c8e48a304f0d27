// Products of two activations: both are packed into the tiles that the inner product reads.
#include "lib/core/simd_targets.hpp"
// The settings come first; foreach_target.h compiles this file once per target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/ops/gemm/matmul_cpu.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h by its rules.
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <type_traits>

#include "lib/core/aligned_buffer.hpp"
#include "lib/ops/cpu/cpu_context.hpp"
#include "lib/ops/cpu/panel_work.hpp"
#include "lib/ops/cpu/tile-inl.hpp"
#include "lib/ops/gather/permute.hpp"
#include "lib/ops/gemm/matmul_axes.hpp"
#include "lib/ops/gemm/matmul_staging.hpp"
#include "lib/tensor/float16.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::ops {
namespace HWY_NAMESPACE {

struct F16Bits {
  std::uint16_t bits;
};
struct Bf16Bits {
  std::uint16_t bits;
};
HWY_INLINE float number_of(float x) { return x; }
HWY_INLINE float number_of(F16Bits x) { return tensor::from_f16(x.bits); }
HWY_INLINE float number_of(Bf16Bits x) { return tensor::from_bf16(x.bits); }

// Four numbers of each of four rows, k by k.
HWY_INLINE void turn_square(const float* from, std::int64_t row_stride, float* to,
                            std::int64_t height) {
  const hn::FixedTag<float, 4> f32;
  const auto r0 = hn::LoadU(f32, from), r1 = hn::LoadU(f32, from + row_stride);
  const auto r2 = hn::LoadU(f32, from + 2 * row_stride), r3 = hn::LoadU(f32, from + 3 * row_stride);
  const auto even = hn::InterleaveLower(f32, r0, r2), odd = hn::InterleaveLower(f32, r1, r3);
  hn::StoreU(hn::InterleaveLower(f32, even, odd), f32, to);
  hn::StoreU(hn::InterleaveUpper(f32, even, odd), f32, to + height);
  const auto even2 = hn::InterleaveUpper(f32, r0, r2), odd2 = hn::InterleaveUpper(f32, r1, r3);
  hn::StoreU(hn::InterleaveLower(f32, even2, odd2), f32, to + 2 * height);
  hn::StoreU(hn::InterleaveUpper(f32, even2, odd2), f32, to + 3 * height);
}

// Rows whose numbers are contiguous, as far as squares of four go; returns the rows that it packed.
template <class T>
HWY_INLINE std::int64_t turn_rows(const T* from, std::int64_t row_stride, std::int64_t n_rows,
                                  std::int64_t height, std::int64_t n_k, float* to) {
  if constexpr (std::is_same_v<T, float>) {
    std::int64_t r = 0;
    for (; r + 4 <= n_rows; r += 4)
      for (std::int64_t k = 0; k < n_k; k += 4)
        turn_square(from + r * row_stride + k, row_stride, to + k * height + r, height);
    return r;
  }
  return 0;
}

// `height` rows of n_k numbers, k by k: to[k * height + row]; zeros behind the first n_rows.
template <class T>
void pack_rows(const T* from, std::int64_t row_stride, std::int64_t k_stride, std::int64_t n_rows,
               std::int64_t height, std::int64_t n_k, float* to) {
  constexpr std::int64_t kNear = 16;  // of a row, which lie in a line or two
  for (std::int64_t begin = 0; begin < n_k; begin += kNear) {
    const std::int64_t end = std::min(n_k, begin + kNear);
    if (row_stride == 1) {
      for (std::int64_t k = begin; k < end; ++k)
        for (std::int64_t r = 0; r < n_rows; ++r)
          to[k * height + r] = number_of(from[r + k * k_stride]);
    } else {
      const std::int64_t turned =
          k_stride == 1 && end - begin == kNear
              ? turn_rows(from + begin, row_stride, n_rows, height, kNear, to + begin * height)
              : 0;
      for (std::int64_t r = turned; r < n_rows; ++r)
        for (std::int64_t k = begin; k < end; ++k)
          to[k * height + r] = number_of(from[r * row_stride + k * k_stride]);
    }
    for (std::int64_t k = begin; n_rows < height && k < end; ++k)
      std::fill(to + k * height + n_rows, to + (k + 1) * height, 0.0f);
  }
}

struct RowsOf {
  const Tensor& x;
  std::int64_t at, row_stride, k_stride;
};
void pack_tile(const RowsOf& rows, std::int64_t first, std::int64_t n_rows, std::int64_t height,
               std::int64_t n_k, float* to) {
  const std::int64_t at = rows.at + first * rows.row_stride;
  const auto pack = [&](auto type) {
    using T = decltype(type);
    pack_rows(rows.x.as<const T>() + at, rows.row_stride, rows.k_stride, n_rows, height, n_k, to);
  };
  if (rows.x.dtype == DType::f16) return pack(F16Bits{});
  if (rows.x.dtype == DType::bf16) return pack(Bf16Bits{});
  pack(float{});
}

// The sums of one row, n of them.
void store_sums(const Tensor& y, std::int64_t at, std::int64_t stride, const float* sums,
                std::int64_t n, float scale) {
  if (y.dtype == DType::f32 && stride == 1) {
    const F32 f32;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(f32));
    for (std::int64_t i = 0; i < n; i += lanes)
      store_first(hn::Mul(hn::Load(f32, sums + i), hn::Set(f32, scale)),
                  static_cast<std::size_t>(std::min(lanes, n - i)), y.as<float>() + at + i);
    return;
  }
  for (std::int64_t i = 0; i < n; ++i) {
    const float value = scale * sums[i];
    if (y.dtype == DType::f32) {
      y.as<float>()[at + i * stride] = value;
    } else {
      y.as<std::uint16_t>()[at + i * stride] =
          y.dtype == DType::f16 ? tensor::to_f16(value) : tensor::to_bf16(value);
    }
  }
}

std::int64_t rows_of_tile() { return kTileRows; }

// A panel's rows are multiplied while it lies in the nearest cache.
void multiply_part(const Matmul& op, const MatmulAxes& axes, const MatmulPart& part,
                   Scratch& scratch) {
  const F32 f32;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(f32)), width = 2 * lanes;
  const std::int64_t n_rows = part.row_end - part.row_begin;
  const std::int64_t n_tiles = (n_rows + kTileRows - 1) / kTileRows;
  float* const panel = scratch.reserve((width + n_tiles * kTileRows) * axes.k);
  float* const tiles = panel + width * axes.k;
  const RowsOf a{op.a, batch_offset(axes, axes.a, part.product), axes.a.row, axes.a.column};
  const RowsOf b{op.b, batch_offset(axes, axes.b, part.product), axes.b.column, axes.b.row};
  const std::int64_t y = batch_offset(axes, axes.y, part.product);
  const auto rows_in = [&](std::int64_t tile) {
    return std::min<std::int64_t>(kTileRows, n_rows - tile * kTileRows);
  };
  for (std::int64_t t = 0; t < n_tiles; ++t)
    pack_tile(a, part.row_begin + t * kTileRows, rows_in(t), kTileRows, axes.k,
              tiles + t * kTileRows * axes.k);
  HWY_ALIGN float sums[kTileRows * 2 * HWY_MAX_BYTES / sizeof(float)];
  const auto keep = [&](int r, Vec first, Vec second) HWY_ATTR {
    hn::Store(first, f32, sums + r * width);
    hn::Store(second, f32, sums + r * width + lanes);
  };
  for (std::int64_t p = part.panel_begin; p < part.panel_end; ++p) {
    const std::int64_t column = p * width, n_columns = std::min(width, axes.n - column);
    pack_tile(b, column, n_columns, width, axes.k, panel);
    for (std::int64_t t = 0; t < n_tiles; ++t) {
      tile_of<2>(static_cast<int>(rows_in(t)), {tiles + t * kTileRows * axes.k, 1, kTileRows},
                 panel, axes.k, keep);
      const std::int64_t row = part.row_begin + t * kTileRows;
      for (std::int64_t r = 0; r < rows_in(t); ++r)
        store_sums(op.y, y + (row + r) * axes.y.row + column * axes.y.column, axes.y.column,
                   sums + r * width, n_columns, op.scale);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::ops
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace biogpu::ops {
namespace {

HWY_EXPORT(rows_of_tile);
HWY_EXPORT(multiply_part);

void multiply_all(CpuContext& context, const Matmul& asked) {
  const Matmul op = with_near_columns(asked);
  const MatmulAxes axes = matmul_axes(op);
  // Rows of a task: those of a that stay in the second cache, and enough to be worth packing b.
  constexpr std::int64_t kNumbers = 1 << 17, kFewest = 96;
  const std::int64_t tile = HWY_DYNAMIC_DISPATCH(rows_of_tile)();
  const std::int64_t rows =
      std::max(kFewest, kNumbers / std::max<std::int64_t>(1, axes.k)) / tile * tile;
  const std::int64_t n_blocks = (axes.m + rows - 1) / rows, n_panels = count_panels(axes.n);
  // Each group of panels packs the rows again: no more groups than threads need.
  const std::int64_t n_tasks = context.n_threads() == 1 ? 1 : 3 * context.n_threads();
  const std::int64_t n_whole = axes.n_products() * n_blocks;
  const std::int64_t n_groups =
      std::clamp<std::int64_t>((n_tasks + n_whole - 1) / n_whole, 1, n_panels);
  context.for_each(n_whole * n_groups, [&](std::int64_t task) {
    const std::int64_t group = task % n_groups, block = task / n_groups;
    const std::int64_t row = block % n_blocks * rows;
    HWY_DYNAMIC_DISPATCH(multiply_part)
    (op, axes,
     {block / n_blocks, row, std::min(row + rows, axes.m), n_panels * group / n_groups,
      n_panels * (group + 1) / n_groups},
     context.scratch());
  });
}

}  // namespace

void matmul_cpu(CpuContext& context, const Matmul& op) {
  if (op.y.size() == 0) return;
  // Channels of a line: those behind pairs are read and written a line at a time.
  constexpr std::int64_t kChannels = 16;
  const int axis = channel_axis(op);
  if (axis < 0) return multiply_all(context, op);
  std::array<AlignedBuffer, 3> memory;
  multiply_in_groups(
      op, axis, kChannels, [&](int, const Tensor& x) { return channel_axis(x) == axis; },
      [&](int i, std::size_t bytes) {
        return memory[static_cast<std::size_t>(i)].get<std::uint8_t>(bytes);
      },
      [&](const Tensor& from, const Tensor& to) {
        permute_cpu(context, {from, to});
      },
      [&](const Matmul& group) { multiply_all(context, group); });
}

}  // namespace biogpu::ops
#endif
