#include "lib/qc/steps/correct.hpp"

#include <algorithm>

#include "lib/core/complement.hpp"

namespace biogpu::qc {
namespace {

constexpr char kGood = kPhredOffset + 30;
constexpr char kPoor = kPhredOffset + 14;

void replace(char* base, char* quality, char new_base, char new_quality,
             std::vector<Correction>& corrections) {
  corrections.push_back({base, quality, *base, *quality});
  *base = new_base;
  *quality = new_quality;
}

}  // namespace

int correct_by_overlap(const Mate& mate1, const Mate& mate2, const Overlap& overlap,
                       std::vector<Correction>& corrections) {
  if (!overlap.found || overlap.diff == 0) return 0;
  const int start1 = std::max(0, overlap.offset);
  const int start2 = mate2.length - std::max(0, -overlap.offset) - 1;
  bool changed1 = false;
  bool changed2 = false;
  for (int i = 0; i < overlap.length; ++i) {
    char* base1 = mate1.sequence + start1 + i;
    char* base2 = mate2.sequence + start2 - i;
    if (*base1 == complement_acgt(*base2)) continue;
    char* quality1 = mate1.quality + start1 + i;
    char* quality2 = mate2.quality + start2 - i;
    if (*quality1 >= kGood && *quality2 <= kPoor) {
      replace(base2, quality2, complement_acgt(*base1), *quality1, corrections);
      changed2 = true;
    } else if (*quality2 >= kGood && *quality1 <= kPoor) {
      replace(base1, quality1, complement_acgt(*base2), *quality2, corrections);
      changed1 = true;
    }
  }
  return static_cast<int>(changed1) + static_cast<int>(changed2);
}

}  // namespace biogpu::qc
