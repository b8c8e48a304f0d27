#pragma once

#include <string>
#include <vector>

#include "lib/lab/block_case.hpp"

namespace biogpu::lab {

// All blocks and their other implementations, in the order of lib/lab/blocks.def.
const std::vector<Block>& blocks();

// Blocks by name, with all their variants, or by NAME:VARIANT; all where no name is given. Throws
// Error{usage} for a name that no block has.
std::vector<const Block*> find_blocks(const std::vector<std::string>& names);

}  // namespace biogpu::lab
