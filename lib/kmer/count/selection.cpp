#include "lib/kmer/count/selection.hpp"

#include <algorithm>
#include <utility>

#include "lib/kmer/key/key.hpp"

namespace biogpu::kmer {
namespace {

template <int kWords>
Key<kWords> key_at(const CountBlock& block, std::size_t i) {
  Key<kWords> key;
  std::copy_n(block.key(i), kWords, key.word.begin());
  return key;
}

template <int kWords>
void count_listed(const KeyOrder& order, const CountBlock& block, CountBlock& listed) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < listed.size(); ++i) {
    const Key<kWords> sort_key = order.encode(key_at<kWords>(listed, i));
    while (at < block.size() && order.encode(key_at<kWords>(block, at)) < sort_key) ++at;
    const bool found = at < block.size() && key_at<kWords>(block, at) == key_at<kWords>(listed, i);
    listed.counts[i] = found ? block.counts[at] : 0;
  }
}

}  // namespace

void keep_listed(const KeyOrder& order, CountBlock& listed, CountBlock& block) {
  with_words(order.k(), [&]<int kWords>() { count_listed<kWords>(order, block, listed); });
  std::swap(listed, block);
}

}  // namespace biogpu::kmer
