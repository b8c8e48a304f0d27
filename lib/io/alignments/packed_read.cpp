#include "lib/io/alignments/packed_read.hpp"

#include <algorithm>
#include <array>

#include "lib/core/complement.hpp"

namespace biogpu::io::input {
namespace {

constexpr std::string_view kLetters = "=ACMGRSVTWYHKDBN";
constexpr std::array<char, 16> kComplements = [] {
  std::array<char, 16> complements{};
  for (std::size_t i = 0; i < complements.size(); ++i)
    complements[i] = complement_iupac(kLetters[i]);
  return complements;
}();
constexpr std::uint16_t kReverse = 0x10;
constexpr std::uint8_t kNoQuality = 0xff;

}  // namespace

void PackedReadAppender::append(SequenceBatch& batch, const PackedRead& read) {
  const std::size_t n = read.n_residues;
  const bool is_reverse = (read.flag & kReverse) != 0;
  const char* const letters = is_reverse ? kComplements.data() : kLetters.data();
  sequence_.resize(n);
  quality_.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    const int shift = i % 2 == 0 ? 4 : 0;
    sequence_[i] = letters[read.residues[i / 2] >> shift & 15];
    quality_[i] = static_cast<char>(std::min<int>(read.phred[i], '~' - '!') + '!');
  }
  if (is_reverse) {
    std::reverse(sequence_.begin(), sequence_.end());
    std::reverse(quality_.begin(), quality_.end());
  }
  const bool has_quality = n == 0 || read.phred[0] != kNoQuality;
  batch.append(read.name, {}, sequence_, quality_, has_quality);
}

}  // namespace biogpu::io::input
