#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "lib/bwt/suffix/suffix_array.hpp"
#include "lib/core/big_array.hpp"
#include "lib/core/run_on_threads.hpp"

namespace biogpu::bwt {

// Sorts groups of two suffixes where many lie side by side, as in a text that holds a long stretch
// twice: suffixes a and b that share their first symbol compare as a + 1 and b + 1 do. So of a
// chain of pairs only the last is compared, and the others follow it in one scan of the text.
//
// Memory: an index and a byte for each symbol of the text.
template <class Index>
class PairChains {
 public:
  PairChains(const SuffixSource& source, Index* sa, int n_threads)
      : source_(source),
        sa_(sa),
        n_(source.text.size()),
        n_threads_(n_threads),
        partner_(n_),
        first_(n_) {}

  // Pairs whose order is found are in it afterwards; returns the other groups.
  std::vector<SuffixGroup> run(const std::vector<SuffixGroup>& groups) {
    run_ranges_on_threads(n_threads_, n_, [&](std::size_t, std::size_t begin, std::size_t end) {
      std::fill(partner_.data() + begin, partner_.data() + end, kNone);
    });
    run_ranges_on_threads(
        n_threads_, groups.size(), [&](std::size_t, std::size_t g, std::size_t end) {
          for (; g < end; ++g) {
            if (groups[g].size != 2) continue;
            const auto [a, b] = std::minmax(sa_[groups[g].begin], sa_[groups[g].begin + 1]);
            partner_[a] = b;
          }
        });
    run_ranges_on_threads(n_threads_, n_, [&](std::size_t, std::size_t begin, std::size_t end) {
      follow(begin, end);
    });
    std::vector<SuffixGroup> left;
    for (const SuffixGroup& group : groups)
      if (group.size != 2 || !settle(group)) left.push_back(group);
    return left;
  }

 private:
  static constexpr Index kNone = std::numeric_limits<Index>::max();
  // Words that the last pair of a chain is compared over. It may belong with others that repeat.
  static constexpr int kMaxWords = 64;
  enum First : std::uint8_t { unknown, a_first, b_first };

  bool goes_on(std::uint64_t a) const {
    return a + 1 < n_ && partner_[a + 1] != kNone && partner_[a + 1] == partner_[a] + 1;
  }

  // The pairs that begin in [begin, end), from the last to the first.
  void follow(std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t a = end; a-- > begin;) {
      if (partner_[a] == kNone) continue;
      if (!goes_on(a)) {
        first_[a] = compare(a, partner_[a]);
      } else if (a + 1 < end) {
        first_[a] = first_[a + 1];
      } else {  // the rest of the chain is another thread's
        std::uint64_t last = a;
        while (goes_on(last)) ++last;
        first_[a] = compare(last, partner_[last]);
      }
    }
  }

  First compare(std::uint64_t a, std::uint64_t b) const {
    const std::uint64_t step = source_.text.symbols_per_word();
    for (int k = 0; k < kMaxWords; ++k, a += step, b += step) {
      const std::uint64_t word_a = source_.word_at(a);
      const std::uint64_t word_b = source_.word_at(b);
      if (word_a != word_b) return word_a < word_b ? a_first : b_first;
      if (source_.ends.empty()) {
        if (b + step >= n_) return b_first;  // the shorter
      } else if (source_.text.has_zero(word_a)) {
        return a_first;  // equal strings
      }
    }
    return unknown;
  }

  bool settle(const SuffixGroup& group) {
    Index* const at = sa_ + group.begin;
    const auto [a, b] = std::minmax(at[0], at[1]);
    const Index lower = a;
    const Index higher = b;
    const std::uint8_t first = first_[lower];
    if (first == unknown) return false;
    at[0] = first == a_first ? lower : higher;
    at[1] = first == a_first ? higher : lower;
    return true;
  }

  const SuffixSource& source_;
  Index* const sa_;
  const std::uint64_t n_;
  const int n_threads_;
  BigArray<Index> partner_;       // of the first of two suffixes: the second
  BigArray<std::uint8_t> first_;  // First, where there is a partner
};

}  // namespace biogpu::bwt
