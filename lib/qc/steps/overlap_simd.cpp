// The overlap of two mates at the width of the machine. An offset is refused or accepted by its
// first 50 bases, which one or two vectors hold: a handful of instructions an offset.
#include "lib/qc/steps/overlap.hpp"

#include "lib/core/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/qc/steps/overlap_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace biogpu::qc {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

inline constexpr int kCompared = 50;

using Tag = hn::CappedTag<std::uint8_t, 64>;

HWY_INLINE int equal_bases(const char* a, const char* b, int n) {
  const Tag d;
  const int width = static_cast<int>(hn::Lanes(d));
  int equal = 0;
  for (int i = 0; i < n; i += width) {
    auto same = hn::Eq(hn::LoadU(d, reinterpret_cast<const std::uint8_t*>(a + i)),
                       hn::LoadU(d, reinterpret_cast<const std::uint8_t*>(b + i)));
    if (n - i < width) same = hn::And(same, hn::FirstN(d, static_cast<std::size_t>(n - i)));
    equal += static_cast<int>(hn::CountTrue(d, same));
  }
  return equal;
}

// The first offset from `offset` on, before `end`, at which the first vector alone does not show
// more mismatches than any limit allows.
HWY_INLINE int skip_hopeless(const char* moving, int offset, int end, hn::Vec<Tag> fixed,
                             int min_equal) {
  const Tag d;
  for (; offset < end; ++offset) {
    const auto bases = hn::LoadU(d, reinterpret_cast<const std::uint8_t*>(moving + offset));
    if (static_cast<int>(hn::CountTrue(d, hn::Eq(bases, fixed))) >= min_equal) break;
  }
  return offset;
}

HWY_INLINE bool accept(const char* a, const char* b, int offset, int length,
                       const OverlapRules& rules, Overlap& overlap) {
  const int limit = max_differing(length, rules);
  const int compared = std::min(kCompared, length);
  if (compared - equal_bases(a, b, compared) > limit) return false;
  overlap = {true, offset, length, length - equal_bases(a, b, length)};
  return true;
}

// The first offset at which the bases from there on overlap those of `fixed` from its first base.
HWY_INLINE bool slide(const char* moving, int length, const char* fixed, int fixed_length,
                      const OverlapRules& rules, Overlap& overlap) {
  const Tag d;
  // Of the bases compared, those that the first vector holds.
  const int width = std::min(kCompared, static_cast<int>(hn::Lanes(d)));
  // No limit is above diff_limit; equal bytes behind the compared ones only make it more careful.
  const int min_equal = width - std::max(rules.diff_limit, 0);
  const auto head = hn::LoadU(d, reinterpret_cast<const std::uint8_t*>(fixed));
  const int end = length - rules.require;
  // Shorter overlaps do not fill the vector.
  const int wide_end = fixed_length < width ? 0 : std::min(end, length - width + 1);
  for (int offset = 0;; ++offset) {
    offset = skip_hopeless(moving, offset, wide_end, head, min_equal);
    if (offset >= end) return false;
    const int overlapping = std::min(length - offset, fixed_length);
    if (accept(moving + offset, fixed, offset, overlapping, rules, overlap)) return true;
  }
}

Overlap find(const char* sequence1, int length1, const char* reversed, int length2,
             const OverlapRules& rules) {
  Overlap overlap;
  if (slide(sequence1, length1, reversed, length2, rules, overlap)) return overlap;
  if (!slide(reversed, length2, sequence1, length1, rules, overlap)) return {};
  overlap.offset = -overlap.offset;
  return overlap;
}

void reverse(const char* sequence, int length, char* to) {
  using Half = hn::CappedTag<std::uint8_t, 16>;
  const Half d;
  // The low four bits tell the letters apart (A 1, C 3, G 7, T 4); what the look-up does not give
  // back unchanged is another letter, hence N.
  HWY_ALIGN constexpr std::uint8_t kLetter[16] = {0, 'A', 0, 'C', 'T', 0, 0, 'G',
                                                  0, 0,   0, 0,   0,   0, 0, 0};
  HWY_ALIGN constexpr std::uint8_t kComplement[16] = {'N', 'T', 'N', 'G', 'A', 'N', 'N', 'C',
                                                      'N', 'N', 'N', 'N', 'N', 'N', 'N', 'N'};
  HWY_ALIGN constexpr std::uint8_t kBackwards[16] = {15, 14, 13, 12, 11, 10, 9, 8,
                                                     7,  6,  5,  4,  3,  2,  1, 0};
  const auto backwards = hn::Load(d, kBackwards);
  const auto letters = hn::Load(d, kLetter);
  const auto complements = hn::Load(d, kComplement);
  auto* out = reinterpret_cast<std::uint8_t*>(to);
  for (int i = 0; i < length; i += 16) {
    // The last vector may begin before the read: only what lies in it is stored for good.
    const int begin = length - i - 16;
    HWY_ALIGN std::uint8_t head[16] = {};
    const std::uint8_t* from = head;
    if (begin >= 0)
      from = reinterpret_cast<const std::uint8_t*>(sequence) + begin;
    else
      for (int k = -begin; k < 16; ++k) head[k] = static_cast<std::uint8_t>(sequence[begin + k]);
    const auto base = hn::LoadU(d, from);
    const auto upper = hn::And(base, hn::Set(d, 0xDF));
    const auto code = hn::And(base, hn::Set(d, 0x0F));
    const auto known = hn::Eq(hn::TableLookupBytes(letters, code), upper);
    const auto result = hn::IfThenElse(known, hn::TableLookupBytes(complements, code),
                                       hn::Set(d, static_cast<std::uint8_t>('N')));
    hn::StoreU(hn::TableLookupBytes(result, backwards), d, out + i);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::qc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace biogpu::qc {
HWY_EXPORT(find);
HWY_EXPORT(reverse);

Overlap find_overlap(const char* sequence1, int length1, const char* reversed, int length2,
                     const OverlapRules& rules) {
  return HWY_DYNAMIC_DISPATCH(find)(sequence1, length1, reversed, length2, rules);
}

void reverse_complement(const char* sequence, int length, char* to) {
  HWY_DYNAMIC_DISPATCH(reverse)(sequence, length, to);
}
}  // namespace biogpu::qc
#endif
