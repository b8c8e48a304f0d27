#include "lib/bwt/bwa/bwa_kmers.hpp"

#include <algorithm>
#include <array>
#include "lib/core/run_on_threads.hpp"

namespace biogpu::bwt {

BwaKmers::BwaKmers(const BwaFm& index, int n_threads) {
  constexpr std::uint64_t kTextPerEntry = 256;
  while (k_ < kMaxBases && (kTextPerEntry << 2 * (k_ + 1)) <= index.size()) ++k_;
  rows_ = BigArray<BwaFm::Rows>(std::size_t{1} << 2 * k_);
  // Each job has the strings that end in the same bases.
  const std::uint32_t n_last = std::min<std::uint32_t>(k_, 3);
  run_on_threads(n_threads, std::size_t{1} << 2 * n_last, [&](std::size_t, std::size_t last) {
    BwaFm::Rows rows = index.all_rows();
    for (std::uint32_t i = 0; i < n_last && rows.size != 0; ++i)
      rows = index.extend_left(rows, last >> 2 * i & 3);
    fill(index, last, n_last, rows);
  });
}

// Enters the strings of k bases that end in these.
void BwaKmers::fill(const BwaFm& index, std::uint64_t word, std::uint32_t length,
                    const BwaFm::Rows& rows) {
  if (length == k_) {
    rows_[word] = rows;
    return;
  }
  std::array<BwaFm::Rows, 4> longer;
  for (unsigned base = 0; base < 4; ++base) {
    if (rows.size != 0) longer[base] = index.extend_left(rows, base);
    if (length + 1 < k_) index.prefetch_left(longer[base]);
  }
  for (std::uint64_t base = 0; base < 4; ++base)
    fill(index, word | base << 2 * length, length + 1, longer[base]);
}

}  // namespace biogpu::bwt
