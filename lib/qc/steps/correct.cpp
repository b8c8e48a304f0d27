#include "lib/qc/steps/correct.hpp"

#include <algorithm>

#include "lib/core/complement.hpp"

namespace biogpu::qc {
namespace {

constexpr char kGood = kPhredOffset + 30;
constexpr char kPoor = kPhredOffset + 14;

// The change of a read's base to the complement of its mate's.
BaseChange change_to(std::uint32_t read, const TrimmedRead& of, const char* base, char mate_base,
                     char mate_quality) {
  return {read, static_cast<std::int32_t>(base - of.original.sequence), complement_acgt(mate_base),
          mate_quality};
}

}  // namespace

void find_corrections(const TrimmedRead& read1, const TrimmedRead& read2, const Overlap& overlap,
                      std::vector<BaseChange>& changes) {
  if (!overlap.found || overlap.diff == 0) return;
  const Mate& mate1 = read1.mate;
  const Mate& mate2 = read2.mate;
  const int start1 = std::max(0, overlap.offset);
  const int start2 = mate2.length - std::max(0, -overlap.offset) - 1;
  for (int i = 0; i < overlap.length; ++i) {
    const char* base1 = mate1.sequence + start1 + i;
    const char* base2 = mate2.sequence + start2 - i;
    if (*base1 == complement_acgt(*base2)) continue;
    const char quality1 = mate1.quality[start1 + i];
    const char quality2 = mate2.quality[start2 - i];
    if (quality1 >= kGood && quality2 <= kPoor)
      changes.push_back(change_to(1, read2, base2, *base1, quality1));
    else if (quality2 >= kGood && quality1 <= kPoor)
      changes.push_back(change_to(0, read1, base1, *base2, quality2));
  }
}

}  // namespace biogpu::qc
