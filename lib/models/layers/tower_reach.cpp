#include "lib/models/layers/tower_reach.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace biogpu::models {

TowerReach::TowerReach(std::vector<std::int64_t> taps, std::int64_t n_letters)
    : taps_(std::move(taps)), n_letters_(n_letters) {}

RowRange TowerReach::reached(RowRange letters) const {
  std::int64_t n = n_letters_;
  for (const std::int64_t taps : taps_) {
    const std::int64_t half = (taps - 1) / 2;
    letters = {std::max<std::int64_t>(0, letters.begin - half), std::min(n, letters.end + half)};
    letters = {letters.begin / 2, (letters.end + 1) / 2};
    n /= 2;
  }
  return letters;
}

std::int64_t TowerReach::margin() const {
  std::int64_t n = 0;
  for (const std::int64_t taps : taps_) n = (n + (taps - 1) / 2 + 1) / 2;
  return n;
}

std::int64_t TowerReach::part_size(RowRange reached) const {
  return std::min(n_rows(), reached.size() + 2 * margin());
}

RowRange TowerReach::part(RowRange reached, std::int64_t n_part) const {
  n_part = std::min(n_part, n_rows());
  const std::int64_t begin =
      std::clamp<std::int64_t>(reached.begin - margin(), 0, n_rows() - n_part);
  return {begin, begin + n_part};
}

RowRange differing(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b) {
  const auto first = std::mismatch(a.begin(), a.end(), b.begin()).first;
  if (first == a.end()) return {};
  const auto last = std::mismatch(a.rbegin(), a.rend(), b.rbegin()).first;
  return {std::distance(a.begin(), first), std::distance(last, a.rend())};
}

}  // namespace biogpu::models
