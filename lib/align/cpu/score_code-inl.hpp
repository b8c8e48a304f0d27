// Scores of cells of one pair as 32-bit lanes. Compiled once per target.
#if defined(BIOGPU_ALIGN_SCORE_CODE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef BIOGPU_ALIGN_SCORE_CODE_INL
#undef BIOGPU_ALIGN_SCORE_CODE_INL
#else
#define BIOGPU_ALIGN_SCORE_CODE_INL
#endif

#include <hwy/highway.h>

#include "lib/align/cpu/pair_scores.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::align {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D32 = hn::ScalableTag<std::int32_t>;
using V32 = hn::Vec<D32>;

// Codes of residues as lanes, and the score of a vector of code pairs: one byte look-up for small
// tables (codes in the top byte, the shift extends the sign), else a gather.
template <bool kSmall>
struct Coder {
  static constexpr std::int32_t kRest = kSmall ? static_cast<std::int32_t>(0x80808080u) : 0;
  static std::int32_t query_code(int c) {
    if (!kSmall) return c * kScoreStride;
    return c < 4 ? c << 26 | 0x808080 : kRest;
  }
  static std::int32_t target_code(int c) {
    if (!kSmall) return c;
    return c < 4 ? c << 24 | 0x808080 : kRest;
  }
  static HWY_INLINE V32 score(V32 query, V32 target, const PairScores& scores) {
    const D32 d;
    if constexpr (kSmall) {
      const hn::Repartition<std::uint8_t, D32> d8;
      const auto table = hn::LoadDup128(d8, scores.bytes);
      const auto at = hn::BitCast(d8, hn::Or(query, target));
      return hn::ShiftRight<24>(hn::BitCast(d, hn::TableLookupBytesOr0(table, at)));
    } else {
      return hn::GatherIndex(d, scores.words, hn::Add(query, target));
    }
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::align
HWY_AFTER_NAMESPACE();

#endif
