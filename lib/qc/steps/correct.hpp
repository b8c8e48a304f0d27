#pragma once

#include <cstdint>
#include <vector>

#include "lib/qc/steps/mate.hpp"
#include "lib/qc/steps/overlap.hpp"

namespace biogpu::qc {

// One base that was replaced, and what it was.
struct Correction {
  char* base = nullptr;
  char* quality = nullptr;
  char old_base = 0;
  char old_quality = 0;
};

// Where the mates differ in their overlap and one base has at least Q30, the other at most Q14, the
// poor one becomes the complement of the good one, with its quality. Appends what it replaced;
// returns how many of the two mates changed.
int correct_by_overlap(const Mate& mate1, const Mate& mate2, const Overlap& overlap,
                       std::vector<Correction>& corrections);

}  // namespace biogpu::qc
