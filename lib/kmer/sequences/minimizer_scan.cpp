// Minimizers at the width of the machine: Highway compiles this file once per instruction set.
//
// Every pass is a plain loop over one array whose entry i looks at entries i and i + d of another,
// so that reads, their ends and the window's width need no special cases: 2, 4, 8 and 16 bases are
// put together by doubling, and so are minima over 2, 4, 8, ... m-mers; two overlapping powers of
// two cover a window of any width.
#include "lib/kmer/sequences/minimizer_scan.hpp"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/kmer/sequences/minimizer_scan.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace biogpu::kmer::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using Tag8 = hn::ScalableTag<std::uint8_t>;
using Tag16 = hn::ScalableTag<std::uint16_t>;
using Tag32 = hn::ScalableTag<std::uint32_t>;
using Vec8 = hn::Vec<Tag8>;
using Vec32 = hn::Vec<Tag32>;

// Mask bits of consecutive vectors in consecutive bits of bytes.
template <class Tag, class Test>
void store_bits(Tag d, std::size_t n, std::uint8_t* to, Test&& test) {
  const std::size_t lanes = hn::Lanes(d);
  if constexpr (hn::MaxLanes(Tag()) >= 8) {
    for (std::size_t i = 0; i < n; i += lanes) hn::StoreMaskBits(d, test(i), to + i / 8);
  } else {
    for (std::size_t i = 0; i < n; i += 8) {
      unsigned byte = 0;
      for (std::size_t j = 0; j < 8; j += lanes) {
        std::uint8_t bits[8] = {};
        hn::StoreMaskBits(d, test(i + j), bits);
        byte |= static_cast<unsigned>(bits[0]) << j;
      }
      to[i / 8] = static_cast<std::uint8_t>(byte);
    }
  }
}

// Letters to 0..3 and to bits that mark what is no base.
void encode(const char* letters, std::size_t n, std::uint8_t* codes, std::uint8_t* invalid) {
  const Tag8 d;
  const auto* text = reinterpret_cast<const std::uint8_t*>(letters);
  store_bits(d, n, invalid, [&](std::size_t i) {
    const Vec8 letter = hn::LoadU(d, text + i);
    // A, C, T, G of either case have 0, 1, 2, 3 in bits 1 and 2.
    const Vec8 actg = hn::And(hn::ShiftRight<1>(letter), hn::Set(d, 3));
    hn::StoreU(hn::Xor(actg, hn::ShiftRight<1>(actg)), d, codes + i);
    const Vec8 upper = hn::And(letter, hn::Set(d, 0xdf));
    const auto purine = hn::Or(hn::Eq(upper, hn::Set(d, 'A')), hn::Eq(upper, hn::Set(d, 'G')));
    const auto pyrimidine = hn::Or(hn::Eq(upper, hn::Set(d, 'C')), hn::Eq(upper, hn::Set(d, 'T')));
    return hn::Not(hn::Or(purine, pyrimidine));
  });
}

// Two and four bases in a byte, in place, then eight in a word: the first base highest for
// forward8, lowest for reverse8.
void join_to_8(ScanBlock& block) {
  const Tag8 d;
  const hn::Half<Tag8> half;
  const Tag16 d16;
  const std::size_t end = block.n + 16;
  alignas(64) static thread_local std::uint8_t reverse[ScanBlock::kBases + ScanBlock::kPad];
  std::uint8_t* forward = block.codes;
  for (std::size_t i = 0; i < end; i += hn::Lanes(d)) {
    const Vec8 a = hn::LoadU(d, forward + i);
    const Vec8 b = hn::LoadU(d, forward + i + 1);
    hn::StoreU(hn::Or(hn::ShiftLeft<2>(a), b), d, forward + i);
    hn::StoreU(hn::Or(hn::ShiftLeft<2>(b), a), d, reverse + i);
  }
  for (std::size_t i = 0; i < end; i += hn::Lanes(d)) {
    hn::StoreU(hn::Or(hn::ShiftLeft<4>(hn::LoadU(d, forward + i)), hn::LoadU(d, forward + i + 2)),
               d, forward + i);
    hn::StoreU(hn::Or(hn::ShiftLeft<4>(hn::LoadU(d, reverse + i + 2)), hn::LoadU(d, reverse + i)),
               d, reverse + i);
  }
  for (std::size_t i = 0; i < end; i += hn::Lanes(d16)) {
    const auto promoted = [&](const std::uint8_t* at) {
      return hn::PromoteTo(d16, hn::LoadU(half, at));
    };
    hn::StoreU(hn::Or(hn::ShiftLeft<8>(promoted(forward + i)), promoted(forward + i + 4)), d16,
               block.forward8 + i);
    hn::StoreU(hn::Or(hn::ShiftLeft<8>(promoted(reverse + i + 4)), promoted(reverse + i)), d16,
               block.reverse8 + i);
  }
}

// 16 bases, and in bin the hash of the canonical m-mer at each base.
void hash_mers(ScanBlock& block, int m) {
  const Tag32 d;
  const hn::Half<Tag16> half;
  const Vec32 low = hn::Set(d, m == 16 ? ~0u : (1u << 2 * m) - 1);
  const int down = 32 - 2 * m;
  for (std::size_t i = 0; i < block.n; i += hn::Lanes(d)) {
    const auto promoted = [&](const std::uint16_t* at) {
      return hn::PromoteTo(d, hn::LoadU(half, at));
    };
    const Vec32 forward =
        hn::Or(hn::ShiftLeft<16>(promoted(block.forward8 + i)), promoted(block.forward8 + i + 8));
    hn::StoreU(forward, d, block.bases16 + i);
    const Vec32 reverse =
        hn::Or(hn::ShiftLeft<16>(promoted(block.reverse8 + i + 8)), promoted(block.reverse8 + i));
    Vec32 h = hn::Min(hn::ShiftRightSame(forward, down), hn::And(hn::Not(reverse), low));
    h = hn::Mul(hn::Xor(h, hn::ShiftRight<15>(h)), hn::Set(d, 0x2c1b3c6du));
    h = hn::Mul(hn::Xor(h, hn::ShiftRight<12>(h)), hn::Set(d, 0x297a2d39u));
    hn::StoreU(hn::Xor(h, hn::ShiftRight<15>(h)), d, block.bin + i);
  }
}

// bin[i] = smaller of bin[i] and bin[i + distance].
void min_with_later(ScanBlock& block, std::size_t distance) {
  const Tag32 d;
  for (std::size_t i = 0; i + distance < block.n; i += hn::Lanes(d))
    hn::StoreU(hn::Min(hn::LoadU(d, block.bin + i), hn::LoadU(d, block.bin + i + distance)), d,
               block.bin + i);
}

void scan(ScanBlock& block, const ScanOptions& options) {
  std::memset(block.text + block.n, 'N', 64);
  encode(block.text, block.n, block.codes, reinterpret_cast<std::uint8_t*>(block.invalid));
  // The end of the text ends a run.
  block.invalid[block.n / 64] |= ~std::uint64_t{0} << block.n % 64;
  std::memset(block.codes + block.n, 0, 64);
  join_to_8(block);
  hash_mers(block, options.m);
  const auto width = static_cast<std::size_t>(options.k - options.m + 1);
  std::size_t covered = 1;
  for (; 2 * covered <= width; covered *= 2) min_with_later(block, covered);
  if (covered < width) min_with_later(block, width - covered);

  const Tag32 d;
  const Vec32 mask = hn::Set(d, options.n_bins - 1);
  for (std::size_t i = 0; i < block.n; i += hn::Lanes(d))
    hn::StoreU(hn::And(hn::LoadU(d, block.bin + i), mask), d, block.bin + i);
  store_bits(d, block.n, reinterpret_cast<std::uint8_t*>(block.ends), [&](std::size_t i) {
    return hn::Not(hn::Eq(hn::LoadU(d, block.bin + i), hn::LoadU(d, block.bin + i + 1)));
  });
}

// Eight bases of 0..3 a byte, the first lowest, to 16 bits, the first highest.
std::uint32_t join_8(const std::uint8_t* codes) {
  std::uint64_t x;
  std::memcpy(&x, codes, sizeof x);
  x = (x << 2 | x >> 8) & 0x000f000f000f000fu;
  x = (x << 4 | x >> 16) & 0x000000ff000000ffu;
  return static_cast<std::uint32_t>((x << 8 | x >> 32) & 0xffff);
}

void pack(const char* letters, std::size_t n, std::uint32_t* bases, std::uint32_t* invalid) {
  constexpr std::size_t kStep = 4096;  // its codes stay in the first-level cache
  alignas(64) std::uint8_t codes[kStep];
  for (std::size_t begin = 0; begin < n; begin += kStep) {
    const std::size_t now = n - begin < kStep ? n - begin : kStep;
    encode(letters + begin, now, codes, reinterpret_cast<std::uint8_t*>(invalid + begin / 32));
    for (std::size_t i = 0; i < now; i += 16)
      bases[(begin + i) / 16] = join_8(codes + i) << 16 | join_8(codes + i + 8);
  }
}

void mask_quality(char* letters, const char* quality, std::size_t n, char min_symbol) {
  const hn::ScalableTag<std::int8_t> d;
  const std::size_t lanes = hn::Lanes(d);
  auto* to = reinterpret_cast<std::int8_t*>(letters);
  const auto* from = reinterpret_cast<const std::int8_t*>(quality);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto low =
        hn::Lt(hn::LoadU(d, from + i), hn::Set(d, static_cast<std::int8_t>(min_symbol)));
    hn::StoreU(hn::IfThenElse(low, hn::Set(d, 'N'), hn::LoadU(d, to + i)), d, to + i);
  }
  for (; i < n; ++i)
    if (quality[i] < min_symbol) letters[i] = 'N';
}

}  // namespace biogpu::kmer::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace biogpu::kmer {
HWY_EXPORT(pack);
HWY_EXPORT(scan);
HWY_EXPORT(mask_quality);

void scan_block(ScanBlock& block, const ScanOptions& options) {
  HWY_DYNAMIC_DISPATCH(scan)(block, options);
}

void pack_letters(const char* letters, std::size_t n, std::uint32_t* bases,
                  std::uint32_t* invalid) {
  HWY_DYNAMIC_DISPATCH(pack)(letters, n, bases, invalid);
}

void mask_low_quality(char* letters, const char* quality, std::size_t n, char min_symbol) {
  HWY_DYNAMIC_DISPATCH(mask_quality)(letters, quality, n, min_symbol);
}
}  // namespace biogpu::kmer
#endif
