#pragma once

#include <span>

#include "lib/kmer/count/count_hash_table.hpp"

namespace biogpu::kmer {

// Adds each window of k bases of the super-k-mers in `records` to the table, canonical or as read.
// Reads up to 63 bytes beyond the records, and 13 before. For 1, 2, 4 and 8 words.
template <int kWords>
void count_windows(std::span<const char> records, int k, bool canonical,
                   CountHashTable<kWords>& table);

}  // namespace biogpu::kmer
