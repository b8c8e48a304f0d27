#include "lib/kmer/count/selection.hpp"

#include <algorithm>
#include <utility>

#include "lib/kmer/key.hpp"

namespace biogpu::kmer {
namespace {

template <int kWords>
Key<kWords> key_at(const CountBlock& block, std::size_t i) {
  Key<kWords> key;
  std::copy_n(block.key(i), kWords, key.word.begin());
  return key;
}

template <int kWords>
void count_wanted(const KeyOrder& order, const CountBlock& block, CountBlock& wanted) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const Key<kWords> place = order.place(key_at<kWords>(wanted, i));
    while (at < block.size() && order.place(key_at<kWords>(block, at)) < place) ++at;
    const bool found = at < block.size() && key_at<kWords>(block, at) == key_at<kWords>(wanted, i);
    wanted.counts[i] = found ? block.counts[at] : 0;
  }
}

}  // namespace

void keep_wanted(const KeyOrder& order, CountBlock& wanted, CountBlock& block) {
  with_words(order.k(), [&]<int kWords>() { count_wanted<kWords>(order, block, wanted); });
  std::swap(wanted, block);
}

}  // namespace biogpu::kmer
