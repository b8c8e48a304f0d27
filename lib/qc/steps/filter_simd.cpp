// What the filters count, at the width of the machine.
#include "lib/core/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/qc/steps/filter_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cstdint>

#include "lib/qc/steps/filter.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::qc {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

BaseCounts count(const char* sequence, const char* quality, int length, int qualified) {
  const hn::ScalableTag<std::int8_t> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  const hn::Repartition<std::uint64_t, decltype(d)> d64;
  const int width = static_cast<int>(hn::Lanes(d));
  const auto bound = hn::Set(d, static_cast<std::int8_t>(kPhredOffset + qualified));
  const auto letter_n = hn::Set(d, 'N');
  BaseCounts counts;
  auto sum = hn::Zero(d64);
  int i = 0;
  for (; i + width <= length; i += width) {
    const auto q = hn::LoadU(d, reinterpret_cast<const std::int8_t*>(quality + i));
    const auto base = hn::LoadU(d, reinterpret_cast<const std::int8_t*>(sequence + i));
    // Signed bytes as chars are: shifted by 128 so that their sum can be taken as of unsigned ones.
    sum = hn::Add(sum, hn::SumsOf8(hn::BitCast(du, hn::Xor(q, hn::Set(d, -128)))));
    counts.low_quality += static_cast<int>(hn::CountTrue(d, hn::Lt(q, bound)));
    counts.n_bases += static_cast<int>(hn::CountTrue(d, hn::Eq(base, letter_n)));
  }
  if (i < length) {
    const auto valid = hn::FirstN(d, static_cast<std::size_t>(length - i));
    const auto q = hn::LoadU(d, reinterpret_cast<const std::int8_t*>(quality + i));
    const auto base = hn::LoadU(d, reinterpret_cast<const std::int8_t*>(sequence + i));
    const auto shifted = hn::IfThenElseZero(valid, hn::Xor(q, hn::Set(d, -128)));
    sum = hn::Add(sum, hn::SumsOf8(hn::BitCast(du, shifted)));
    counts.low_quality += static_cast<int>(hn::CountTrue(d, hn::And(valid, hn::Lt(q, bound))));
    counts.n_bases += static_cast<int>(hn::CountTrue(d, hn::And(valid, hn::Eq(base, letter_n))));
  }
  counts.quality_sum =
      static_cast<int>(hn::GetLane(hn::SumOfLanes(d64, sum))) - length * (128 + kPhredOffset);
  return counts;
}

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::qc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace biogpu::qc {
HWY_EXPORT(count);

BaseCounts count_bases(const char* sequence, const char* quality, int length, int qualified) {
  return HWY_DYNAMIC_DISPATCH(count)(sequence, quality, length, qualified);
}
}  // namespace biogpu::qc
#endif
