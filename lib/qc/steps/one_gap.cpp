#include "lib/qc/steps/one_gap.hpp"

#include <algorithm>
#include <cstddef>

#include "lib/qc/steps/overlap.hpp"

namespace biogpu::qc {
namespace {

int differ(std::string_view a, int i, std::string_view b, int j) {
  return static_cast<int>(a[static_cast<std::size_t>(i)] != b[static_cast<std::size_t>(j)]);
}

// fastp 1 asks of an overlap that it nearly agrees without the gap too: of the first n - 1 bases,
// and the last with one base more, no more may differ. Kept as it is.
bool overlaps_with_gap(std::string_view longer, std::string_view shorter, int n, int allowed) {
  if (n < 2 || !matches_without_one(longer, shorter, n, allowed)) return false;
  int different = differ(longer, n, shorter, n - 1);
  for (int i = 0; i < n - 1; ++i) different += differ(longer, i, shorter, i);
  return different <= allowed;
}

}  // namespace

bool matches_without_one(std::string_view longer, std::string_view shorter, int n, int allowed) {
  if (allowed < 0) return false;
  int right = 0;  // mismatches behind the gap
  for (int i = 1; i < n; ++i) right += differ(longer, i + 1, shorter, i);
  int left = differ(longer, 0, shorter, 0);
  for (int gap = 1; gap < n; ++gap) {
    if (left + right <= allowed) return true;
    left += differ(longer, gap, shorter, gap);
    right -= differ(longer, gap + 1, shorter, gap);
  }
  return false;
}

Overlap find_overlap_with_gap(std::string_view sequence1, std::string_view reversed,
                              const OverlapRules& rules) {
  const auto length1 = static_cast<int>(sequence1.size());
  const auto length2 = static_cast<int>(reversed.size());
  const auto accepted = [&](std::string_view a, std::string_view b, int length) {
    const int allowed = max_differing(length, rules);
    return overlaps_with_gap(a, b, length - 1, allowed) ||
           overlaps_with_gap(b, a, length - 1, allowed);
  };
  for (int offset = 0; offset < length1 - rules.require; ++offset) {
    const int length = std::min(length1 - offset, length2);
    if (accepted(sequence1.substr(static_cast<std::size_t>(offset)), reversed, length))
      return {true, offset, length, 0};
  }
  for (int shift = 0; shift < length2 - rules.require; ++shift) {
    const int length = std::min(length1, length2 - shift);
    if (accepted(sequence1, reversed.substr(static_cast<std::size_t>(shift)), length))
      return {true, -shift, length, 0};
  }
  return {};
}

}  // namespace biogpu::qc
