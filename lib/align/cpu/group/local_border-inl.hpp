// What a tile of rows of a local alignment hands to the one below. Compiled once per target.
#if defined(BIOGPU_ALIGN_LOCAL_BORDER_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef BIOGPU_ALIGN_LOCAL_BORDER_INL
#undef BIOGPU_ALIGN_LOCAL_BORDER_INL
#else
#define BIOGPU_ALIGN_LOCAL_BORDER_INL
#endif

#include "lib/align/cpu/group/group_lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::align {
namespace HWY_NAMESPACE {

// H and F of the row above a tile, by column.
template <class T>
class LocalBorder {
 public:
  using V = hn::Vec<Tag<T>>;

  // Above the first tile H of column j is floor(j), and F less by what opening a gap costs.
  template <class Floor>
  void start(Scratch& scratch, std::int64_t n_columns, V open, const Floor& floor) {
    const Tag<T> d;
    rows_ = scratch.border.get<T>(n_columns * 2 * lanes());
    for (std::int64_t j = 0; j < n_columns; ++j) {
      hn::Store(floor(j), d, rows_ + 2 * j * lanes());
      hn::Store(hn::Sub(floor(j), open), d, rows_ + (2 * j + 1) * lanes());
    }
  }

  bool started() const { return rows_ != nullptr; }

  // corner: H above and left of column j, then of column j + C.
  template <int C, class Front>
  HWY_INLINE void load(std::int64_t j, V& corner, Front& front) const {
    const Tag<T> d;
    for (int c = 0; c < C; ++c) {
      front.diagonal[c] = corner;
      corner = hn::Load(d, rows_ + 2 * (j + c) * lanes());
      front.f[c] = hn::Load(d, rows_ + (2 * (j + c) + 1) * lanes());
    }
  }

  // After the last row: each column's diagonal is H of the column before it; h: of the last one.
  template <int C, class Front>
  HWY_INLINE void store(std::int64_t j, const Front& front, V h) {
    const Tag<T> d;
    for (int c = 0; c < C; ++c) {
      hn::Store(c + 1 < C ? front.diagonal[(c + 1) % C] : h, d, rows_ + 2 * (j + c) * lanes());
      hn::Store(front.f[c], d, rows_ + (2 * (j + c) + 1) * lanes());
    }
  }

 private:
  static HWY_INLINE std::int64_t lanes() { return static_cast<std::int64_t>(hn::Lanes(Tag<T>())); }

  T* rows_ = nullptr;
};

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::align
HWY_AFTER_NAMESPACE();

#endif
