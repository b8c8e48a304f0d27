// Statistics of a read at the width of the machine: a vector holds as many cycles as it has bytes.
#include "lib/qc/stats/read_stats.hpp"

#include "lib/core/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/qc/stats/read_stats_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace biogpu::qc {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Bytes = hn::CappedTag<std::uint8_t, NarrowSums::kBlock>;
using Words = hn::RepartitionToWide<Bytes>;
using Signed = hn::RebindToSigned<Bytes>;

inline constexpr std::uint8_t kMaxPhred = 93;
inline constexpr std::uint8_t kNotAcgt = 4;
inline constexpr int kMerLength = 5;

HWY_INLINE hn::Vec<Bytes> load(const char* text) {
  return hn::LoadU(Bytes(), reinterpret_cast<const std::uint8_t*>(text));
}

bool has_odd_quality(const char* quality, int length, int from) {
  const Bytes d;
  const int width = static_cast<int>(hn::Lanes(d));
  const auto offset = hn::Set(d, '!');
  auto highest = hn::Zero(d);
  for (int i = from; i < length; i += width) {
    auto phred = hn::Sub(load(quality + i), offset);
    if (length - i < width)
      phred = hn::IfThenElseZero(hn::FirstN(d, static_cast<std::size_t>(length - i)), phred);
    highest = hn::Max(highest, phred);
  }
  return !hn::AllTrue(d, hn::Eq(hn::Min(highest, hn::Set(d, kMaxPhred)), highest));
}

// Adds the even and the odd bytes of v to two halves of a block.
HWY_INLINE void add_quality(hn::Vec<Bytes> v, std::uint16_t* even, std::uint16_t* odd) {
  const Words d;
  const auto pairs = hn::BitCast(d, v);
  hn::StoreU(hn::Add(hn::LoadU(d, even), hn::And(pairs, hn::Set(d, 0xFF))), d, even);
  hn::StoreU(hn::Add(hn::LoadU(d, odd), hn::ShiftRight<8>(pairs)), d, odd);
}

// Cycles [i, i + width) of a read, of which those in `valid` are added.
HWY_INLINE void add_cycles(hn::Vec<Bytes> base, hn::Vec<Bytes> symbol, hn::Mask<Bytes> valid, int i,
                           NarrowSums& sums) {
  constexpr int kBlock = NarrowSums::kBlock;
  const Bytes d;
  const Signed ds;
  const auto letter = hn::IfThenElseZero(valid, hn::And(base, hn::Set(d, 7)));
  const auto phred = hn::IfThenElseZero(valid, hn::Sub(symbol, hn::Set(d, '!')));
  const auto at_least = [&](std::int8_t bound) {
    return hn::CountTrue(ds, hn::Gt(hn::BitCast(ds, phred), hn::Set(ds, std::int8_t(bound - 1))));
  };
  sums.q20 += at_least(20);
  sums.q30 += at_least(30);
  sums.q40 += at_least(40);
  const int block = i / kBlock;
  const int lane = i % kBlock;
  std::uint8_t* bases = sums.bases.data() + block * kLetters * kBlock + lane;
  std::uint16_t* quality = sums.quality.data() + block * 5 * kBlock + lane / 2;
  for (int k = 0; k < kLetters; ++k) {
    const auto is_letter = hn::Eq(letter, hn::Set(d, kLetterCode[static_cast<std::size_t>(k)]));
    std::uint8_t* count = bases + k * kBlock;
    hn::StoreU(hn::Sub(hn::LoadU(d, count), hn::VecFromMask(d, is_letter)), d, count);
    const auto part = k < 4 ? hn::IfThenElseZero(is_letter, phred) : phred;
    std::uint16_t* even = quality + k * kBlock;
    add_quality(part, even, even + kBlock / 2);
  }
}

// The bins of a vector of windows, the codes of whose first bases are given.
HWY_INLINE void store_bins(const std::uint8_t* window, std::uint16_t* bins) {
  const Bytes d;
  const hn::Half<Bytes> half;
  const Words d16;
  const auto c0 = hn::LoadU(d, window);
  const auto c1 = hn::LoadU(d, window + 1);
  const auto c2 = hn::LoadU(d, window + 2);
  const auto c3 = hn::LoadU(d, window + 3);
  const auto c4 = hn::LoadU(d, window + 4);
  const auto any = hn::Or(hn::Or(hn::Or(c0, c1), hn::Or(c2, c3)), c4);
  const auto low =
      hn::Or(hn::Or(hn::ShiftLeft<6>(c1), hn::ShiftLeft<4>(c2)), hn::Or(hn::ShiftLeft<2>(c3), c4));
  const auto high = hn::Or(hn::And(c0, hn::Set(d, 3)), hn::And(any, hn::Set(d, kNotAcgt)));
  const auto join = [&](auto low_half, auto high_half) {
    return hn::Or(hn::PromoteTo(d16, low_half), hn::ShiftLeft<8>(hn::PromoteTo(d16, high_half)));
  };
  hn::StoreU(join(hn::LowerHalf(half, low), hn::LowerHalf(half, high)), d16, bins);
  hn::StoreU(join(hn::UpperHalf(half, low), hn::UpperHalf(half, high)), d16, bins + hn::Lanes(d16));
}

// The 5-mers that end in [from, length).
void add_kmers(const char* sequence, int length, int from, NarrowSums& sums) {
  const Bytes d;
  const int width = static_cast<int>(hn::Lanes(d));
  const int begin = std::max(0, from - (kMerLength - 1));
  std::uint8_t* codes = sums.codes.data();  // code of base c at c - begin + 4
  std::fill_n(codes, kMerLength - 1, kNotAcgt);
  HWY_ALIGN constexpr std::uint8_t kLetter[16] = {0xFF, 'A',  0xFF, 'C',  'T',  0xFF, 0xFF, 'G',
                                                  0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
  const auto letters = hn::LoadDup128(d, kLetter);
  for (int i = begin; i < length; i += width) {
    const auto base = load(sequence + i);
    const auto expected = hn::TableLookupBytes(letters, hn::And(base, hn::Set(d, 0x0F)));
    const auto code =
        hn::Or(hn::And(base, hn::Set(d, 2)), hn::And(hn::ShiftRight<2>(base), hn::Set(d, 1)));
    hn::StoreU(hn::IfThenElse(hn::Eq(base, expected), code, hn::Set(d, kNotAcgt)), d,
               codes + (i - begin) + kMerLength - 1);
  }
  // A few vectors at a time: their stores are done when the windows are counted. Windows behind the
  // read are left out: most are the same one, and each would wait for the count of the one before.
  constexpr int kVectors = 4;
  HWY_ALIGN std::uint16_t bins[kVectors * NarrowSums::kBlock];
  std::uint32_t* kmers = sums.kmers.data();
  for (int first = from; first < length; first += kVectors * width) {
    const int n = std::min(kVectors * width, length - first);
    for (int i = 0; i < n; i += width) store_bins(codes + (first - begin) + i, bins + i);
    for (int k = 0; k < n; ++k) ++kmers[bins[k]];
  }
}

bool add(const char* sequence, const char* quality, int length, int from, NarrowSums& sums) {
  if (has_odd_quality(quality, length, from)) return false;
  const Bytes d;
  const int width = static_cast<int>(hn::Lanes(d));
  for (int i = from / width * width; i < length; i += width) {
    auto valid = hn::FirstN(d, static_cast<std::size_t>(std::min(length - i, width)));
    if (i < from) valid = hn::AndNot(hn::FirstN(d, static_cast<std::size_t>(from - i)), valid);
    add_cycles(load(sequence + i), load(quality + i), valid, i, sums);
  }
  add_kmers(sequence, length, from, sums);
  return true;
}

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::qc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace biogpu::qc {
HWY_EXPORT(add);

bool add_narrow(const char* sequence, const char* quality, int length, int from, NarrowSums& sums) {
  return HWY_DYNAMIC_DISPATCH(add)(sequence, quality, length, from, sums);
}
}  // namespace biogpu::qc
#endif
