#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/kmer/key/count_block.hpp"
#include "lib/kmer/key/key_order.hpp"

namespace biogpu::kmer {

// Leaves the k-mers of which keep(key, count) is true.
template <class Keep>
void keep_if(CountBlock& block, Keep&& keep) {
  const auto n_words = static_cast<std::size_t>(block.n_words);
  std::size_t n = 0;
  for (std::size_t i = 0; i < block.size(); ++i) {
    if (!keep(block.key(i), block.counts[i])) continue;
    for (std::size_t w = 0; w < n_words; ++w) block.keys[n * n_words + w] = block.key(i)[w];
    block.counts[n++] = block.counts[i];
  }
  block.keys.resize(n * n_words);
  block.counts.resize(n);
}

// Makes `block` the k-mers of `listed` with the counts that they have in `block`, 0 where they are
// not in it. Both are in the order; what `listed` holds is lost.
void keep_listed(const KeyOrder& order, CountBlock& listed, CountBlock& block);

}  // namespace biogpu::kmer
