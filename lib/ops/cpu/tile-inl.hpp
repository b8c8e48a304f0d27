// The inner product of the CPU context, for re-inclusion once per target: a tile of up to kTileRows
// rows by one panel of columns, its sums in registers.
#include "lib/core/simd_targets.hpp"
#if defined(BIOGPU_OPS_TILE_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef BIOGPU_OPS_TILE_INL_HPP
#undef BIOGPU_OPS_TILE_INL_HPP
#else
#define BIOGPU_OPS_TILE_INL_HPP
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <cstdint>

#include "lib/ops/cpu/math-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::ops {
namespace HWY_NAMESPACE {

// 32 vector registers hold 28 sums, 16 hold 12; the rest are for the factors.
constexpr int kTileRows = HWY_MAX_BYTES >= 64 ? 14 : 6;

constexpr std::size_t kFloatsOfLine = 16;
constexpr std::size_t kFloatsAhead = 512;  // less came late from memory, more gained nothing

// Sums of kRows rows by kVectors vectors of columns. Recursive, so that the compiler sees separate
// variables and not an array.
template <int kRows, int kVectors>
struct Sums {
  Vec first;
  Vec second;  // unused where kVectors is 1
  Sums<kRows - 1, kVectors> rest;

  HWY_INLINE void clear() {
    first = second = hn::Zero(F32());
    rest.clear();
  }
  HWY_INLINE void add(const float* x, std::int64_t stride, Vec w0, Vec w1) {
    const Vec factor = hn::Set(F32(), *x);
    first = hn::MulAdd(factor, w0, first);
    if constexpr (kVectors == 2) second = hn::MulAdd(factor, w1, second);
    rest.add(x + stride, stride, w0, w1);
  }
  // Calls store(row, first, second) for each row.
  template <class Store>
  HWY_INLINE void finish(int row, const Store& store) const {
    store(row, first, second);
    rest.finish(row + 1, store);
  }
};
template <int kVectors>
struct Sums<0, kVectors> {
  HWY_INLINE void clear() {}
  HWY_INLINE void add(const float*, std::int64_t, Vec, Vec) {}
  template <class Store>
  HWY_INLINE void finish(int, const Store&) const {}
};

// A matrix whose element (row, k) is data[row * row_stride + k * k_stride].
struct Factors {
  const float* data;
  std::int64_t row_stride;
  std::int64_t k_stride;
};

// Row r of the tile times the panel: sum over k of x(r, k) * panel[k * width + column]. Every sum
// is one chain in the order of k, whatever the tile: results do not depend on how rows are grouped.
template <int kRows, int kVectors, class Store>
HWY_INLINE void tile(const Factors& x, const float* panel, std::int64_t n_k, const Store& store) {
  const F32 f32;
  const std::size_t lanes = hn::Lanes(f32);
  Sums<kRows, kVectors> sums;
  sums.clear();
  for (std::int64_t k = 0; k < n_k; ++k) {
    // A panel is larger than the nearest cache, and the processor's own prefetch comes late.
    for (std::size_t line = 0; line < kVectors * lanes; line += kFloatsOfLine)
      hwy::Prefetch(panel + kFloatsAhead + line);
    const Vec w0 = hn::Load(f32, panel);
    const Vec w1 = kVectors == 2 ? hn::Load(f32, panel + lanes) : w0;
    sums.add(x.data + k * x.k_stride, x.row_stride, w0, w1);
    panel += static_cast<std::size_t>(kVectors) * lanes;
  }
  sums.finish(0, store);
}

// The same for n_rows rows from 1 to kTileRows, as one tile or as several.
template <int kVectors, class Store>
HWY_INLINE void tile_of(int n_rows, const Factors& x, const float* panel, std::int64_t n_k,
                        const Store& store) {
  if (n_rows == kTileRows) {
    tile<kTileRows, kVectors>(x, panel, n_k, store);
    return;
  }
  // Few sizes, so that little is compiled: a tile of one or two rows takes as long as one of four,
  // as its sums wait for themselves.
  int row = 0;
  const auto store_below = [&](int r, Vec first, Vec second)
                               HWY_ATTR { store(row + r, first, second); };
  const auto below = [&]() -> Factors {
    return {x.data + row * x.row_stride, x.row_stride, x.k_stride};
  };
  if (n_rows >= 6) {
    tile<6, kVectors>(x, panel, n_k, store_below);
    row = 6;
  }
  for (; row + 4 <= n_rows; row += 4) tile<4, kVectors>(below(), panel, n_k, store_below);
  if (row + 2 <= n_rows) {
    tile<2, kVectors>(below(), panel, n_k, store_below);
    row += 2;
  }
  if (row < n_rows) tile<1, kVectors>(below(), panel, n_k, store_below);
}

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::ops
HWY_AFTER_NAMESPACE();

#endif
