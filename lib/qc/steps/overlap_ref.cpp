#include <algorithm>

#include "lib/qc/steps/overlap.hpp"

namespace biogpu::qc {
namespace {

constexpr int kCompared = 50;

int count_mismatches(const char* a, const char* b, int n) {
  int mismatches = 0;
  for (int i = 0; i < n; ++i) mismatches += a[i] != b[i];
  return mismatches;
}

// The overlap of two aligned parts of this length, if they agree well enough.
bool accept(const char* a, const char* b, int offset, int length, const OverlapRules& rules,
            Overlap& overlap) {
  const int limit = max_differing(length, rules);
  if (count_mismatches(a, b, std::min(kCompared, length)) > limit) return false;
  overlap = {true, offset, length, count_mismatches(a, b, length)};
  return true;
}

}  // namespace

Overlap find_overlap_ref(const char* sequence1, int length1, const char* reversed, int length2,
                         const OverlapRules& rules) {
  Overlap overlap;
  for (int offset = 0; offset < length1 - rules.require; ++offset)
    if (accept(sequence1 + offset, reversed, offset, std::min(length1 - offset, length2), rules,
               overlap))
      return overlap;
  for (int shift = 0; shift < length2 - rules.require; ++shift)
    if (accept(sequence1, reversed + shift, -shift, std::min(length1, length2 - shift), rules,
               overlap))
      return overlap;
  return {};
}

}  // namespace biogpu::qc
