#include "lib/bwt/bwa/bwa_text.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "lib/bwt/bwa/bwa_files.hpp"
#include "lib/core/run_on_threads.hpp"
#include "lib/io/mapped_file.hpp"

namespace biogpu::bwt {
namespace {

// Of the reverse complement of 32 bases.
std::uint64_t other_strand(std::uint64_t word) {
  constexpr std::uint64_t kPairs = 0x3333333333333333u;
  constexpr std::uint64_t kNibbles = 0x0f0f0f0f0f0f0f0fu;
  word = (word >> 2 & kPairs) | (word & kPairs) << 2;
  word = (word >> 4 & kNibbles) | (word & kNibbles) << 4;
  return ~__builtin_bswap64(word);
}

}  // namespace

BwaText::BwaText(const std::string& path, std::uint64_t n_bases, int n_threads) {
  if (::access(path.c_str(), F_OK) != 0) return;
  const io::MappedFile file(path);
  // Four bases a byte, then how many the last byte holds.
  if (file.size() != n_bases / 4 + 2 || file.data()[file.size() - 1] != n_bases % 4)
    refuse_bwa_file(path);
  strand_ = PackedText(n_bases, 2);
  run_ranges_on_threads(n_threads, strand_.n_words(),
                        [&](std::size_t, std::size_t w, std::size_t end) {
                          for (; w < end; ++w) {
                            std::uint64_t word = 0;
                            std::memcpy(&word, file.data() + 8 * w,
                                        std::min<std::uint64_t>(8, file.size() - 1 - 8 * w));
                            strand_.words()[w] = __builtin_bswap64(word);
                          }
                        });
  // Zeros behind the text.
  if (n_bases % 32 != 0)
    strand_.words()[n_bases / 32] &= ~(~std::uint64_t{0} >> (2 * (n_bases % 32)));
}

std::uint64_t BwaText::word_at(std::uint64_t i) const {
  const std::uint64_t n = strand_.size();
  if (i + 32 <= n) return strand_.word_at(i);
  if (i < n) return strand_.word_at(i) | word_at(n) >> (2 * (n - i));
  const std::uint64_t n_left = 2 * n - i;
  if (n_left >= 32) return other_strand(strand_.word_at(n_left - 32));
  return n_left == 0 ? 0 : other_strand(strand_.word_at(0)) << (64 - 2 * n_left);
}

}  // namespace biogpu::bwt
