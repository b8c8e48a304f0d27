// The part of the duplicates' hash that depends on the bases, at the width of the machine.
#include "lib/qc/stats/duplicates.hpp"

#include "lib/core/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/qc/stats/duplicates_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace biogpu::qc {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

std::uint64_t sum(const char* bases, const std::uint32_t* primes, std::size_t n) {
  const hn::ScalableTag<std::uint32_t> d32;
  const hn::Repartition<std::uint64_t, decltype(d32)> d64;
  const hn::Rebind<std::uint8_t, decltype(d32)> d8;
  const hn::CappedTag<std::uint8_t, 16> d128;
  HWY_ALIGN constexpr std::uint8_t kLetter[16] = {0xFF, 'A',  0xFF, 'C',  'T',  0xFF, 0xFF, 'G',
                                                  0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
  HWY_ALIGN constexpr std::uint8_t kValue[16] = {13, 7,  13, 74, 222, 13, 13, 31,
                                                 13, 13, 13, 13, 13,  13, 13, 13};
  const auto letters = hn::Load(d128, kLetter);
  const auto values = hn::Load(d128, kValue);
  const std::size_t width = hn::Lanes(d32);
  auto even = hn::Zero(d64);
  auto odd = hn::Zero(d64);
  HWY_ALIGN std::uint8_t block[16];
  for (std::size_t i = 0; i < n; i += 16) {
    const auto base = hn::LoadU(d128, reinterpret_cast<const std::uint8_t*>(bases + i));
    const auto code = hn::And(base, hn::Set(d128, 0x0F));
    const auto known = hn::Eq(hn::TableLookupBytes(letters, code), base);
    auto value =
        hn::IfThenElse(known, hn::TableLookupBytes(values, code), hn::Set(d128, std::uint8_t{13}));
    if (n - i < 16) value = hn::IfThenElseZero(hn::FirstN(d128, n - i), value);
    hn::Store(value, d128, block);
    for (std::size_t k = 0; k < 16; k += width) {
      const auto wide = hn::PromoteTo(d32, hn::LoadU(d8, block + k));
      const auto prime = hn::LoadU(d32, primes + i + k);
      even = hn::Add(even, hn::MulEven(wide, prime));
      odd =
          hn::Add(odd, hn::MulEven(hn::BitCast(d32, hn::ShiftRight<32>(hn::BitCast(d64, wide))),
                                   hn::BitCast(d32, hn::ShiftRight<32>(hn::BitCast(d64, prime)))));
    }
  }
  return hn::GetLane(hn::SumOfLanes(d64, hn::Add(even, odd)));
}

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::qc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace biogpu::qc {
HWY_EXPORT(sum);

std::uint64_t sum_of_bases(const char* bases, const std::uint32_t* primes, std::size_t n) {
  return HWY_DYNAMIC_DISPATCH(sum)(bases, primes, n);
}

std::uint64_t sum_of_bases_ref(const char* bases, const std::uint32_t* primes, std::size_t n) {
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const char base = bases[i];
    const unsigned value = base == 'A'   ? 7
                           : base == 'T' ? 222
                           : base == 'C' ? 74
                           : base == 'G' ? 31
                                         : 13;
    total += std::uint64_t{primes[i]} * value;
  }
  return total;
}
}  // namespace biogpu::qc
#endif
