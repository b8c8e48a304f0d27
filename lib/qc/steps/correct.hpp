#pragma once

#include <vector>

#include "lib/qc/steps/mate.hpp"
#include "lib/qc/steps/overlap.hpp"

namespace biogpu::qc {

// Where the mates differ in their overlap and one base has at least Q30, the other at most Q14, the
// poor one is to become the complement of the good one, with its quality. Appends these changes, of
// read 0 or 1; the letters stay.
void find_corrections(const TrimmedRead& read1, const TrimmedRead& read2, const Overlap& overlap,
                      std::vector<BaseChange>& changes);

inline void change_base(const Mate& original, const BaseChange& change) {
  original.sequence[change.position] = change.base;
  original.quality[change.position] = change.quality;
}

}  // namespace biogpu::qc
