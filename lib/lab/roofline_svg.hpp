#pragma once

#include <string>
#include <vector>

#include "lib/lab/run_block.hpp"
#include "lib/ops/bench/bench.hpp"

namespace biogpu::lab {

// Results as points over the operations of a byte, both axes logarithmic, with the roofline where
// it is known (SVG 1.1). title: a line above it.
std::string roofline_svg(const std::vector<BlockResult>& results, const ops::Roofline& roofline,
                         const std::string& title);

}  // namespace biogpu::lab
