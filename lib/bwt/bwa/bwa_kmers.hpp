#pragma once

#include <cstdint>

#include "lib/bwt/bwa/bwa_fm.hpp"
#include "lib/core/big_array.hpp"

namespace biogpu::bwt {

// The rows of every string of k bases, so that a search begins with k steps done.
class BwaKmers {
 public:
  // k grows with the text, for the table must be small next to it: 0 to kMaxBases.
  BwaKmers(const BwaFm& index, int n_threads);

  std::uint32_t k() const { return k_; }
  // word: the bases, the last in the lowest bits.
  const BwaFm::Rows& operator[](std::uint64_t word) const { return rows_[word]; }
  [[gnu::always_inline]] void prefetch(std::uint64_t word) const {
    __builtin_prefetch(&rows_[word]);
  }

 private:
  static constexpr std::uint32_t kMaxBases = 11;

  void fill(const BwaFm& index, std::uint64_t word, std::uint32_t length, const BwaFm::Rows& rows);

  std::uint32_t k_ = 0;
  BigArray<BwaFm::Rows> rows_;
};

}  // namespace biogpu::bwt
