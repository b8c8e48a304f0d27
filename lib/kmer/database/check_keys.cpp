#include "lib/kmer/database/check_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "lib/kmer/database/throw_bad_input.hpp"

namespace biogpu::kmer {

void check_key_bits(const CountBlock& block, std::size_t first, int k, const std::string& label) {
  const auto n_words = static_cast<std::size_t>(block.n_words);
  for (std::size_t w = 0; w < n_words; ++w) {
    const int n_bits = 2 * k - 64 * static_cast<int>(n_words - 1 - w);
    if (n_bits >= 64) continue;
    std::uint64_t all = 0;
    for (std::size_t i = first; i < block.size(); ++i) all |= block.key(i)[w];
    if (n_bits <= 0 ? all != 0 : all >> n_bits != 0)
      throw_bad_input(label,
                      fmt::format("a k-mer has bits above its {} bases; the file is damaged", k));
  }
}

void check_ascending(const CountBlock& block, std::size_t first, const std::string& label) {
  const auto n_words = static_cast<std::size_t>(block.n_words);
  for (std::size_t i = first + 1; i < block.size(); ++i) {
    const std::uint64_t* const key = block.key(i);
    const std::uint64_t* const before = key - n_words;
    if (!std::lexicographical_compare(before, before + n_words, key, key + n_words))
      throw_bad_input(label, "k-mers are out of order; the file is damaged");
  }
}

}  // namespace biogpu::kmer
