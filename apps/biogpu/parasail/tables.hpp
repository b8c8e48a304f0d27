#pragma once

#include "apps/biogpu/align/compute.hpp"

namespace biogpu::app {

// Writes the scores of all cells of each pair of the unit as parasail_aligner does for functions
// with _table: a file parasail_<query index>_<target index>.txt in the working directory. item: as
// AlignCompute left it, with its targets in `held`. Throws Error{failed} where a file cannot be
// written.
void write_tables(const Item& item, const align::Options& options, const EncodedSet& held);

}  // namespace biogpu::app
