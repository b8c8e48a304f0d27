#pragma once

#include <string>

#include "lib/qc/input/read_sample.hpp"

namespace biogpu::qc {

// The adapter that many of these reads run into, or empty. A 10-mer far more frequent than others
// is grown in both directions for as long as 95 % of the reads agree; what begins with a known
// adapter becomes that adapter. trim_tail: bases of each read's end left out, at least one. Source:
// Chen et al., doi:10.1093/bioinformatics/bty560; rules of fastp 0.23.
// known_first: look for known adapters at every position first, as fastp 1 does.
std::string detect_adapter(const ReadSample& reads, int trim_tail, bool known_first);

}  // namespace biogpu::qc
