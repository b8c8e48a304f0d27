#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lib/kmer/combine.hpp"

namespace biogpu::app {

using CombinedCounts = kmer::Combiner::Counts;
using KeptCount = std::optional<std::uint64_t>;  // empty: the k-mer is dropped

// UINT64_MAX where the sum exceeds it.
std::uint64_t sum_of(std::span<const std::uint64_t> counts);

// Writes the k-mers of several databases, each with the count that combine() returns, as one
// database in the format that out_path names.
void combine_files(const std::vector<std::string>& paths, const std::string& out_path,
                   const std::string& command_line, const kmer::Combiner::Combine& combine);

}  // namespace biogpu::app
