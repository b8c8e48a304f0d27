// A row of the columns of a pass, the inner loop of a group's local alignment. Compiled once per
// target.
#if defined(BIOGPU_ALIGN_LOCAL_ROWS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef BIOGPU_ALIGN_LOCAL_ROWS_INL
#undef BIOGPU_ALIGN_LOCAL_ROWS_INL
#else
#define BIOGPU_ALIGN_LOCAL_ROWS_INL
#endif

#include "lib/align/cpu/group/group_lanes-inl.hpp"
#include "lib/align/cpu/group/local_ends-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::align {
namespace HWY_NAMESPACE {

template <class T, class Source, Want kWant>
struct LocalRows {
  using V = hn::Vec<Tag<T>>;
  static constexpr bool kEnds = kWant != Want::score;
  static constexpr bool kTrace = kWant == Want::trace;

  // The front of a pass; a value of its own, which no store of H can touch, so that it stays in
  // registers.
  template <int C>
  struct Front {
    typename Source::template Columns<C> columns;
    V open, extend, floor;
    V diagonal[C], f[C], most[C];
    T *h, *e;
    std::uint8_t* trace;
    // Skewed columns. back: what lies between E of two passes; h_to, e_to: where H and E go, so
    // that the pass can be computed again.
    V floors[C], back, max_e;
    T *h_to, *e_to;
  };

  // The cells of row i in the columns of a pass; kept: where H of the first column goes.
  template <int C>
  static HWY_INLINE void row(std::int64_t i, Front<C>& front, [[maybe_unused]] T* kept) {
    const Tag<T> d;
    constexpr auto kLanes = static_cast<std::int64_t>(hn::MaxLanes(Tag<T>()));
    const auto at = front.columns.row(i);
    V left = hn::Load(d, front.h + i * kLanes);
    V e = hn::Load(d, front.e + i * kLanes);
    [[maybe_unused]] std::uint8_t* trace = nullptr;
    if constexpr (kTrace) trace = front.trace + i * GroupTrace::row_bytes(kLanes / 8);
    HWY_UNROLL(4)
    for (int c = 0; c < C; ++c) {
      V from_diagonal, at_least;
      if constexpr (kTrace) {
        // The bit must distinguish a diagonal below the floor from the floor.
        from_diagonal = hn::Add(front.diagonal[c], front.columns.score(at, c));
        at_least = hn::Max(from_diagonal, front.floor);
      } else {
        at_least = front.columns.from_diagonal(front.diagonal[c], front.floor, at, c);
      }
      front.diagonal[c] = left;
      const V h = hn::Max(hn::Max(at_least, e), front.f[c]);
      const V opened = hn::Sub(h, front.open);
      const V e_extended = hn::Sub(e, front.extend);
      const V f_extended = hn::Sub(front.f[c], front.extend);
      if constexpr (kTrace)
        trace = store_trace(d, trace, hn::Eq(h, from_diagonal), hn::Eq(h, front.f[c]),
                            hn::Gt(opened, f_extended), hn::Gt(opened, e_extended));
      e = hn::Max(e_extended, opened);
      front.f[c] = hn::Max(f_extended, opened);
      front.most[c] = hn::Max(front.most[c], h);
      if constexpr (kEnds) hn::Store(h, d, kept + c * LocalEnds<T>::kBlock * kMaxLanes);
      left = h;
    }
    hn::Store(left, d, front.h + i * kLanes);
    hn::Store(e, d, front.e + i * kLanes);
  }

  // The same where column c is raised by c times what extending a gap costs: E, which goes from
  // column to column, is then not lowered, and F only once for both its sources.
  //
  // kExact: the best of each column is followed. Else the greatest E behind the pass alone, one
  // maximum for all columns: no H of column c was above it plus front.open less c times the skew.
  template <int C, bool kExact>
  static HWY_INLINE void skewed_row(std::int64_t i, Front<C>& front) {
    const Tag<T> d;
    constexpr auto kLanes = static_cast<std::int64_t>(hn::MaxLanes(Tag<T>()));
    const auto at = front.columns.row(i);
    V left = hn::Load(d, front.h + i * kLanes);
    V e = hn::Sub(hn::Load(d, front.e + i * kLanes), front.back);
    HWY_UNROLL(8)
    for (int c = 0; c < C; ++c) {
      const V at_least = front.columns.from_diagonal(front.diagonal[c], front.floors[c], at, c);
      front.diagonal[c] = left;
      const V h = hn::Max(hn::Max(at_least, front.f[c]), e);
      const V opened = hn::Sub(h, front.open);
      e = hn::Max(e, opened);
      front.f[c] = hn::Sub(hn::Max(front.f[c], opened), front.extend);
      if constexpr (kExact) front.most[c] = hn::Max(front.most[c], h);
      left = h;
    }
    hn::Store(left, d, front.h_to + i * kLanes);
    hn::Store(e, d, front.e_to + i * kLanes);
    if constexpr (!kExact) front.max_e = hn::Max(front.max_e, e);
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::align
HWY_AFTER_NAMESPACE();

#endif
