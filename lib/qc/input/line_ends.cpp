// Finds ends of lines at the width of the machine: compiled once per instruction set, one of which
// is picked when the program starts.
#include "lib/qc/input/line_ends.hpp"

#include "lib/core/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/qc/input/line_ends.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace biogpu::qc {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Writes the offsets to `ends`, which has room for one a byte; returns their number.
std::size_t scan(const char* text, std::size_t n, std::uint32_t* ends) {
  const hn::ScalableTag<std::uint8_t> d;
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(text);
  const std::size_t width = hn::Lanes(d);
  const auto newline = hn::Set(d, '\n');
  std::size_t count = 0;
  std::size_t i = 0;
  for (; i + width <= n; i += width) {
    const auto hit = hn::Eq(hn::LoadU(d, bytes + i), newline);
    std::uint64_t bits = 0;
    hn::StoreMaskBits(d, hit, reinterpret_cast<std::uint8_t*>(&bits));
    for (; bits != 0; bits &= bits - 1)
      ends[count++] =
          static_cast<std::uint32_t>(i + static_cast<std::size_t>(__builtin_ctzll(bits)));
  }
  for (; i < n; ++i)
    if (text[i] == '\n') ends[count++] = static_cast<std::uint32_t>(i);
  return count;
}

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::qc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace biogpu::qc {
HWY_EXPORT(scan);

void find_line_ends(const char* text, std::size_t n, std::vector<std::uint32_t>& ends) {
  // In slices, so that the worst case of one line a byte does not size the vector for good.
  constexpr std::size_t kSlice = 1u << 14;
  std::uint32_t found[kSlice];
  for (std::size_t begin = 0; begin < n; begin += kSlice) {
    const std::size_t size = n - begin < kSlice ? n - begin : kSlice;
    const std::size_t count = HWY_DYNAMIC_DISPATCH(scan)(text + begin, size, found);
    const std::size_t before = ends.size();
    ends.resize(before + count);
    for (std::size_t i = 0; i < count; ++i)
      ends[before + i] = static_cast<std::uint32_t>(begin) + found[i];
  }
}

}  // namespace biogpu::qc
#endif
