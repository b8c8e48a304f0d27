// Scans at the width of the machine: Highway compiles this file once per instruction set and picks
// one when the program starts.
#include "lib/io/records/scan.hpp"

#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/io/records/scan.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace biogpu::io::input::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using Tag = hn::ScalableTag<std::uint8_t>;
using Vec = hn::Vec<Tag>;
using Mask = hn::Mask<Tag>;

struct Residue {
  static Mask holds(Vec v) {
    const Tag d;
    const Vec letter = hn::Sub(hn::Or(v, hn::Set(d, 0x20)), hn::Set(d, 'a'));
    const Mask is_letter = hn::Eq(letter, hn::Min(letter, hn::Set(d, 25)));
    const Mask is_gap = hn::Or(hn::Eq(v, hn::Set(d, '-')), hn::Eq(v, hn::Set(d, '.')));
    return hn::Or(is_letter, hn::Or(is_gap, hn::Eq(v, hn::Set(d, '*'))));
  }
  static bool holds(std::uint8_t c) {
    return static_cast<std::uint8_t>((c | 0x20) - 'a') < 26 || c == '-' || c == '.' || c == '*';
  }
};

struct Quality {
  static Mask holds(Vec v) {
    const Tag d;
    const Vec phred = hn::Sub(v, hn::Set(d, '!'));
    return hn::Eq(phred, hn::Min(phred, hn::Set(d, '~' - '!')));
  }
  static bool holds(std::uint8_t c) { return c >= '!' && c <= '~'; }
};

struct Nonblank {
  static Mask holds(Vec v) {
    const Tag d;
    return hn::Not(hn::Eq(v, hn::Min(v, hn::Set(d, ' '))));
  }
  static bool holds(std::uint8_t c) { return c > ' '; }
};

template <class Class>
std::size_t count_run(const char* text, std::size_t n) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(text);
  const Tag d;
  const std::size_t width = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + width <= n; i += width) {
    const Mask outside = hn::Not(Class::holds(hn::LoadU(d, bytes + i)));
    const auto first = hn::FindFirstTrue(d, outside);
    if (first >= 0) return i + static_cast<std::size_t>(first);
  }
  while (i < n && Class::holds(bytes[i])) ++i;
  return i;
}

std::size_t residues(const char* bytes, std::size_t n) { return count_run<Residue>(bytes, n); }
std::size_t qualities(const char* bytes, std::size_t n) { return count_run<Quality>(bytes, n); }
std::size_t nonblank(const char* bytes, std::size_t n) { return count_run<Nonblank>(bytes, n); }

}  // namespace biogpu::io::input::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace biogpu::io::input {
HWY_EXPORT(residues);
HWY_EXPORT(qualities);
HWY_EXPORT(nonblank);

std::size_t count_residues(const char* bytes, std::size_t n) {
  return HWY_DYNAMIC_DISPATCH(residues)(bytes, n);
}
std::size_t count_qualities(const char* bytes, std::size_t n) {
  return HWY_DYNAMIC_DISPATCH(qualities)(bytes, n);
}
std::size_t count_nonblank(const char* bytes, std::size_t n) {
  return HWY_DYNAMIC_DISPATCH(nonblank)(bytes, n);
}
}  // namespace biogpu::io::input
#endif
