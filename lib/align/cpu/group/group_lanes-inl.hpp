// What the kernels of groups share. Compiled once per target.
#if defined(BIOGPU_ALIGN_GROUP_LANES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef BIOGPU_ALIGN_GROUP_LANES_INL
#undef BIOGPU_ALIGN_GROUP_LANES_INL
#else
#define BIOGPU_ALIGN_GROUP_LANES_INL
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "lib/align/cpu/group/group.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::align {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using Tag = hn::ScalableTag<T>;

// What a kernel computes besides the scores.
enum class Want {
  score,  // local: nothing; global and semi-global: the end too, it comes for little
  ends,   // the end of a local alignment
  trace,  // ends and the bits of every cell
};

// Calls visit(lane) for every set lane of the mask.
template <class D, class M, class Visit>
HWY_INLINE void for_each_lane(D d, M mask, const Visit& visit) {
  std::uint8_t bytes[8] = {};
  hn::StoreMaskBits(d, mask, bytes);
  std::uint64_t bits;
  std::memcpy(&bits, bytes, 8);
  for (; bits != 0; bits &= bits - 1) visit(__builtin_ctzll(bits));
}

// Stores the bits of one vector of cells; returns where the next go.
template <class D, class M>
HWY_INLINE std::uint8_t* store_trace(D d, std::uint8_t* out, M diagonal, M insertion, M f_opens,
                                     M e_opens) {
  const std::size_t bytes = hn::Lanes(d) / 8;
  hn::StoreMaskBits(d, diagonal, out);
  hn::StoreMaskBits(d, insertion, out + bytes);
  hn::StoreMaskBits(d, f_opens, out + 2 * bytes);
  hn::StoreMaskBits(d, e_opens, out + 3 * bytes);
  return out + 4 * bytes;
}

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::align
HWY_AFTER_NAMESPACE();

#endif
