// The loop over the tiles of a product with packed weights, for re-inclusion once per target.
#include "lib/core/simd_targets.hpp"
#if defined(BIOGPU_OPS_PANEL_TILES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef BIOGPU_OPS_PANEL_TILES_INL_HPP
#undef BIOGPU_OPS_PANEL_TILES_INL_HPP
#else
#define BIOGPU_OPS_PANEL_TILES_INL_HPP
#endif

#include <algorithm>

#include "lib/ops/cpu/panel_work.hpp"
#include "lib/ops/cpu/row_blocks.hpp"
#include "lib/ops/cpu/tile-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::ops {
namespace HWY_NAMESPACE {

// Multiplies the rows of a block by panels of a weight. rows(q, n_rows): the Factors of rows q and
// further. finish(q, n_rows, column, sums): what follows their sums in one vector of columns; those
// of the next row begin two vectors further.
template <class Rows, class Finish>
HWY_INLINE void for_panel_tiles(const Linear& linear, const RowBlock& block,
                                const PanelRange& panels, const Rows& rows, const Finish& finish) {
  const F32 f32;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(f32)), width = 2 * lanes;
  const std::int64_t n_k = linear.n_in;
  const auto* const packed = static_cast<const float*>(linear.packed);
  HWY_ALIGN float sums[kTileRows * 2 * HWY_MAX_BYTES / sizeof(float)];
  const auto store = [&](int r, Vec first, Vec second) HWY_ATTR {
    hn::Store(first, f32, sums + r * width);
    hn::Store(second, f32, sums + r * width + lanes);
  };
  for (std::int64_t p = panels.begin; p < panels.end; ++p) {
    const std::int64_t column = p * width;
    for (std::int64_t q = block.begin; q < block.end; q += kTileRows) {
      const int n_rows = static_cast<int>(std::min<std::int64_t>(kTileRows, block.end - q));
      tile_of<2>(n_rows, rows(q, n_rows), packed + column * n_k, n_k, store);
      finish(q, n_rows, column, sums);
      if (column + lanes < linear.n_out) finish(q, n_rows, column + lanes, sums + lanes);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::ops
HWY_AFTER_NAMESPACE();

#endif
