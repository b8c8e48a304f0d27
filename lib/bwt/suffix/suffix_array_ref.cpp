#include <algorithm>
#include <numeric>

#include "lib/bwt/suffix/suffix_array.hpp"

namespace biogpu::bwt {
namespace {

bool is_less(const SuffixSource& source, std::uint64_t a, std::uint64_t b) {
  const bool has_ends = !source.ends.empty();
  const std::uint64_t first = a;
  const std::uint64_t second = b;
  for (;; ++a, ++b) {
    if (a == source.text.size() || b == source.text.size()) return a > b;
    const unsigned x = source.text[a];
    const unsigned y = source.text[b];
    if (x != y) return x < y;
    if (has_ends && x == 0) return first < second;
  }
}

}  // namespace

template <class Index>
BigArray<Index> sort_suffixes_ref(const SuffixSource& source) {
  BigArray<Index> sa(source.text.size());
  std::iota(sa.data(), sa.data() + sa.size(), Index{0});
  std::sort(sa.data(), sa.data() + sa.size(),
            [&](Index a, Index b) { return a != b && is_less(source, a, b); });
  return sa;
}

template BigArray<std::uint32_t> sort_suffixes_ref(const SuffixSource&);
template BigArray<std::uint64_t> sort_suffixes_ref(const SuffixSource&);

}  // namespace biogpu::bwt
