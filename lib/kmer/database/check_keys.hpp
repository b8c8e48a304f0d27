#pragma once

#include <cstddef>
#include <string>

#include "lib/kmer/key/count_block.hpp"

namespace biogpu::kmer {

// Checks of what a file holds from record `first` of the block on. Both throw Error{bad_input} that
// begins with label.

// Keys have no bits above 2k: what sorts and looks up keys counts on it.
void check_key_bits(const CountBlock& block, std::size_t first, int k, const std::string& label);
// Each key is above the one before it.
void check_ascending(const CountBlock& block, std::size_t first, const std::string& label);

}  // namespace biogpu::kmer
