#include "lib/kmer/key/bit_matrix.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <utility>

namespace biogpu::kmer {
namespace {

// random() of the GNU C library with seed 1: an additive generator of degree 31. Our own, because
// other C libraries draw other numbers.
class LibcRandom {
 public:
  LibcRandom() {
    std::int64_t value = 1;
    state_[0] = 1;
    for (std::size_t i = 1; i < kDegree; ++i) {
      value = 16807 * value % 2147483647;
      state_[i] = static_cast<std::uint32_t>(value);
    }
    front_ = kSeparation;
    for (std::size_t i = 0; i < 10 * kDegree; ++i) next();
  }

  std::uint32_t next() {
    const std::uint32_t sum = state_[front_] += state_[back_];
    front_ = (front_ + 1) % kDegree;
    back_ = (back_ + 1) % kDegree;
    return sum >> 1;
  }

  // 64 bits of three numbers of 31 bits, overlapping as Jellyfish lets them.
  std::uint64_t next64() {
    std::uint64_t bits = next();
    bits ^= std::uint64_t{next()} << 30;
    bits ^= std::uint64_t{next()} << 60;
    return bits;
  }

 private:
  static constexpr std::size_t kDegree = 31;
  static constexpr std::size_t kSeparation = 3;
  std::array<std::uint32_t, kDegree> state_{};
  std::size_t front_ = 0;
  std::size_t back_ = 0;
};

std::uint64_t low_mask(int n_bits) {
  return n_bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n_bits) - 1;
}

}  // namespace

BitMatrix invert(const BitMatrix& matrix) {
  const auto n = static_cast<std::size_t>(matrix.n_rows);
  const std::size_t n_high = matrix.columns.size() - n;
  // Column operations that turn B into the identity, done to the identity too. Entry b stands for
  // bit b of the low part, that is column n_columns - 1 - b.
  std::vector<std::uint64_t> left(n);
  std::vector<std::uint64_t> right(n);
  for (std::size_t b = 0; b < n; ++b) {
    left[b] = matrix.columns[matrix.columns.size() - 1 - b];
    right[b] = std::uint64_t{1} << b;
  }
  for (std::size_t row = 0; row < n; ++row) {
    std::size_t pivot = row;
    while (pivot < n && (left[pivot] >> row & 1) == 0) ++pivot;
    if (pivot == n) return {};
    std::swap(left[row], left[pivot]);
    std::swap(right[row], right[pivot]);
    for (std::size_t other = 0; other < n; ++other) {
      if (other == row || (left[other] >> row & 1) == 0) continue;
      left[other] ^= left[row];
      right[other] ^= right[row];
    }
  }
  BitMatrix inverse{matrix.n_rows, std::vector<std::uint64_t>(matrix.columns.size())};
  for (std::size_t b = 0; b < n; ++b) inverse.columns[matrix.columns.size() - 1 - b] = right[b];
  for (std::size_t i = 0; i < n_high; ++i) {
    std::uint64_t sum = 0;  // inverse of B times column i of A
    for (std::uint64_t rest = matrix.columns[i]; rest != 0; rest &= rest - 1)
      sum ^= right[static_cast<std::size_t>(std::countr_zero(rest))];
    inverse.columns[i] = sum;
  }
  return inverse;
}

std::vector<std::uint64_t> jellyfish_draws(std::size_t n) {
  LibcRandom random;
  std::vector<std::uint64_t> drawn(n);
  for (std::uint64_t& value : drawn) value = random.next64();
  return drawn;
}

BitMatrix jellyfish_matrix(int n_rows, int n_columns) {
  LibcRandom random;
  BitMatrix drawn{n_rows, std::vector<std::uint64_t>(static_cast<std::size_t>(n_columns))};
  while (true) {
    for (std::uint64_t& column : drawn.columns) column = random.next64() & low_mask(n_rows);
    BitMatrix inverse = invert(drawn);
    if (!inverse.columns.empty()) return inverse;
  }
}

}  // namespace biogpu::kmer
