// Highway compiles this file once per instruction set and picks one when the program starts.
#include "lib/align/scoring/class_encoder.hpp"

#include <algorithm>

#include "lib/core/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/align/scoring/class_encoder.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace biogpu::align::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Encodes the first bytes, whole vectors of them, and the last vector's worth once more; returns
// how many it encoded: fewer than n where a byte is in no table, and where n is less than a vector.
std::size_t encode_by_tables(const char* letters, std::size_t n, const std::uint8_t* tables,
                             std::uint8_t* to) {
  const hn::ScalableTag<std::uint8_t> d;
  const std::size_t width = hn::Lanes(d);
  const auto* from = reinterpret_cast<const std::uint8_t*>(letters);
  const auto first = hn::LoadDup128(d, tables);
  const auto second = hn::LoadDup128(d, tables + 16);
  const auto marks = hn::LoadDup128(d, tables + 32);
  for (std::size_t i = 0; i + width <= n;) {
    const auto v = hn::LoadU(d, from + i);
    const auto row = hn::And(v, hn::Set(d, 0x0f));
    const auto is_letter = hn::Eq(hn::And(v, hn::Set(d, 0xc0)), hn::Set(d, 0x40));
    const auto is_mark = hn::Eq(hn::And(v, hn::Set(d, 0xf0)), hn::Set(d, 0x20));
    if (!hn::AllTrue(d, hn::Or(is_letter, is_mark))) return i;
    const auto is_second = hn::TestBit(v, hn::Set(d, 0x10));
    const auto letter = hn::IfThenElse(is_second, hn::TableLookupBytes(second, row),
                                       hn::TableLookupBytes(first, row));
    hn::StoreU(hn::IfThenElse(is_letter, letter, hn::TableLookupBytes(marks, row)), d, to + i);
    i += width;
    if (i < n && i + width > n) i = n - width;  // the last one overlaps the one before it
  }
  return n < width ? 0 : n;
}

}  // namespace biogpu::align::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace biogpu::align {
HWY_EXPORT(encode_by_tables);

ClassEncoder::ClassEncoder(const std::array<std::uint8_t, 256>& class_of) : class_of_(class_of) {
  has_tables_ =
      std::equal(class_of.begin() + 0x40, class_of.begin() + 0x60, class_of.begin() + 0x60);
  std::copy_n(class_of.begin() + 0x40, 32, tables_.begin());
  std::copy_n(class_of.begin() + 0x20, 16, tables_.begin() + 32);
}

void ClassEncoder::encode(const char* letters, std::size_t n, std::uint8_t* to) const {
  std::size_t i = 0;
  if (has_tables_) i = HWY_DYNAMIC_DISPATCH(encode_by_tables)(letters, n, tables_.data(), to);
  for (; i < n; ++i) to[i] = class_of_[static_cast<unsigned char>(letters[i])];
}

}  // namespace biogpu::align
#endif
