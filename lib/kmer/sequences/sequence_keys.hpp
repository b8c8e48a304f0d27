#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace biogpu::kmer {

// Appends the k-mers of a sequence in its order, words_for(k) words each: those of k letters that
// are all ACGTacgt.
void append_keys(std::string_view sequence, int k, bool canonical,
                 std::vector<std::uint64_t>& keys);

}  // namespace biogpu::kmer
