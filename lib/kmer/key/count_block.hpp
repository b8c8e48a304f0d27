#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace biogpu::kmer {

// Distinct k-mers and their counts: keys hold n_words words each, the most significant first, as in
// Key.
struct CountBlock {
  int n_words = 1;
  std::vector<std::uint64_t> keys;
  std::vector<std::uint64_t> counts;

  std::size_t size() const { return counts.size(); }
  const std::uint64_t* key(std::size_t i) const {
    return keys.data() + i * static_cast<std::size_t>(n_words);
  }
  void clear(int words) {
    n_words = words;
    keys.clear();
    counts.clear();
  }
};

}  // namespace biogpu::kmer
