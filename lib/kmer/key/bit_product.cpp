#include "lib/kmer/key/bit_product.hpp"

#include <bit>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace biogpu::kmer {
namespace {

#if defined(__x86_64__)
bool multiplies_bits() {
  static const bool does = __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("gfni");
  return does;
}

// Eight vectors at a time: their bytes are brought together by rank, so that an instruction takes a
// byte of each of them to all bytes of their products. The masked form of the permutation keeps GCC
// 12 from warning.
[[gnu::target("avx512f,avx512bw,avx512vbmi,gfni")]] void multiply_8(
    const std::uint64_t* lowest_words, std::size_t stride, std::size_t n,
    const std::array<std::uint64_t, 8>* blocks, std::size_t n_blocks, std::uint64_t* products) {
  alignas(64) std::uint8_t order[64];
  for (unsigned i = 0; i < 64; ++i) order[i] = static_cast<std::uint8_t>(i % 8 * 8 + i / 8);
  const __m512i transposed = _mm512_load_si512(order);
  for (std::size_t first = 0; first < n; first += 8) {
    __m512i sum = _mm512_setzero_si512();
    for (std::size_t w = 0; 8 * w < n_blocks; ++w) {
      const std::uint64_t* const of = lowest_words - w * stride + first;
      alignas(64) long long byte[8];
      _mm512_store_si512(byte,
                         _mm512_maskz_permutexvar_epi8(~0ull, transposed, _mm512_loadu_si512(of)));
      const std::size_t left = n_blocks - 8 * w;
      for (std::size_t b = 0; b < 8 && b < left; ++b)
        sum = _mm512_xor_si512(
            sum, _mm512_gf2p8affine_epi64_epi8(_mm512_set1_epi64(byte[b]),
                                               _mm512_loadu_si512(blocks[8 * w + b].data()), 0));
    }
    _mm512_storeu_si512(products + first, _mm512_maskz_permutexvar_epi8(~0ull, transposed, sum));
  }
}
#endif

}  // namespace

std::vector<BitProduct::ByteTable> BitProduct::make_tables(
    const std::vector<std::uint64_t>& columns) {
  const std::size_t n = columns.size();
  std::vector<ByteTable> tables((n + 7) / 8);
  for (std::size_t t = 0; t < tables.size(); ++t) {
    tables[t][0] = 0;
    for (std::size_t value = 1; value < 256; ++value) {
      const std::size_t bit = 8 * t + static_cast<std::size_t>(std::countr_zero(value));
      tables[t][value] = tables[t][value & (value - 1)] ^ (bit < n ? columns[n - 1 - bit] : 0);
    }
  }
  return tables;
}

BitProduct::BitProduct(const std::vector<std::uint64_t>& columns)
    : tables_(make_tables(columns)), blocks_(tables_.size()) {
  tables_.resize((tables_.size() + 7) / 8 * 8);
  const std::size_t n = columns.size();
  for (std::size_t bit = 0; bit < n; ++bit)
    for (std::size_t row = 0; row < 64; ++row) {
      // A row of a block is a byte, that of the lowest bit the highest byte.
      const std::uint64_t entry = columns[n - 1 - bit] >> row & 1;
      blocks_[bit / 8][row / 8] |= entry << (8 * (7 - row % 8) + bit % 8);
    }
}

bool BitProduct::multiply_blocks([[maybe_unused]] const std::uint64_t* words,
                                 [[maybe_unused]] std::size_t stride,
                                 [[maybe_unused]] std::size_t n_words,
                                 [[maybe_unused]] std::size_t n,
                                 [[maybe_unused]] std::uint64_t* products) const {
#if defined(__x86_64__)
  if (multiplies_bits()) {
    multiply_8(words + (n_words - 1) * stride, stride, n, blocks_.data(), blocks_.size(), products);
    return true;
  }
#endif
  return false;
}

}  // namespace biogpu::kmer
