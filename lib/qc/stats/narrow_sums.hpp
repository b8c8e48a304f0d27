#pragma once

#include "lib/qc/stats/read_stats.hpp"

namespace biogpu::qc {

// Adds the bases [from, length) to narrow sums that have room for them. Returns false, with nothing
// added, when a quality symbol is no Phred + 33 of 0 to 93.
bool add_narrow(const char* sequence, const char* quality, int length, int from, NarrowSums& sums);

}  // namespace biogpu::qc
