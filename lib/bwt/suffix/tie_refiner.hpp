#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "lib/bwt/suffix/suffix_array.hpp"
#include "lib/bwt/suffix/word_sort.hpp"

namespace biogpu::bwt {

// Sorts groups by comparing what follows, a word of the text at a time. One for each thread.
template <class Index>
class TieRefiner {
 public:
  // A group of more than max_compared is left as it is: a sign of a text that repeats itself, where
  // comparing on would mostly find the same again.
  TieRefiner(const SuffixSource& source, Index* sa, std::uint64_t max_compared = 1u << 14)
      : source_(source), sa_(sa), max_compared_(max_compared) {}

  // Sorts the group as far as its first max_depth symbols tell. Groups left go to unresolved().
  void refine(const SuffixGroup& group, std::uint64_t max_depth) {
    work_.push_back(group);
    while (!work_.empty()) {
      SuffixGroup next = work_.back();
      work_.pop_back();
      if (!settle_ended(next)) refine_once(next, max_depth);
    }
  }

  // Adds a group to unresolved() as it is.
  void leave(const SuffixGroup& group) {
    unresolved_.push_back(group);
    n_unresolved_ += group.size;
    if (group.size > 2) n_in_crowds_ += group.size;
  }

  const std::vector<SuffixGroup>& unresolved() const { return unresolved_; }
  std::vector<SuffixGroup> take_unresolved() { return std::exchange(unresolved_, {}); }
  std::uint64_t n_unresolved() const { return n_unresolved_; }
  // Of these, the ones in groups of more than two.
  std::uint64_t n_in_crowds() const { return n_in_crowds_; }

 private:
  struct Keyed {
    std::uint64_t key;
    Index position;
  };

  // Suffixes that end within the group's depth are in their final places afterwards, and the group
  // is what remains. True when nothing does.
  bool settle_ended(SuffixGroup& group) {
    Index* const begin = sa_ + group.begin;
    Index* const end = begin + group.size;
    if (!source_.ends.empty()) {
      // All end in the same way: equal strings, in the order of the text.
      const auto string_end =
          std::lower_bound(source_.ends.begin(), source_.ends.end(), std::uint64_t{*begin});
      if (*string_end >= *begin + group.depth) return false;
      std::sort(begin, end);
      return true;
    }
    const std::uint64_t n = source_.text.size();
    const auto has_ended = [&](Index p) { return p + group.depth >= n; };
    if (std::none_of(begin, end, has_ended)) return group.size < 2;
    Index* const rest = std::partition(begin, end, has_ended);
    std::sort(begin, rest, std::greater<>());  // the shorter, the smaller
    const auto n_ended = static_cast<std::uint64_t>(rest - begin);
    group.begin += n_ended;
    group.size -= n_ended;
    return group.size < 2;
  }

  void refine_once(const SuffixGroup& group, std::uint64_t max_depth) {
    if (group.depth >= max_depth || group.size > max_compared_) return leave(group);
    Index* const sa = sa_ + group.begin;
    keyed_.resize(group.size);
    constexpr std::uint64_t kAhead = 16;
    for (std::uint64_t i = 0; i < group.size; ++i) {
      if (i + kAhead < group.size) source_.text.prefetch(sa[i + kAhead] + group.depth);
      keyed_[i] = {source_.word_at(sa[i] + group.depth), sa[i]};
    }
    const std::uint64_t depth = group.depth + source_.text.symbols_per_word();
    const auto differs = [&](const Keyed& k) { return k.key != keyed_[0].key; };
    if (std::none_of(keyed_.begin() + 1, keyed_.end(), differs)) {
      work_.push_back({group.begin, group.size, depth});
      return;
    }
    sort_keyed();
    for (std::uint64_t begin = 0; begin < group.size;) {
      std::uint64_t end = begin;
      for (; end < group.size && keyed_[end].key == keyed_[begin].key; ++end)
        sa[end] = keyed_[end].position;
      if (end - begin > 1) work_.push_back({group.begin + begin, end - begin, depth});
      begin = end;
    }
  }

  void sort_keyed() {
    constexpr std::size_t kRadixLimit = 2048;
    if (keyed_.size() > kRadixLimit) {
      spare_.resize(keyed_.size());
      sort_by_radix(keyed_.data(), spare_.data(), keyed_.size(), 0,
                    [](const Keyed& k) { return k.key; });
      return;
    }
    std::sort(keyed_.begin(), keyed_.end(),
              [](const Keyed& a, const Keyed& b) { return a.key < b.key; });
  }

  const SuffixSource& source_;
  Index* const sa_;
  const std::uint64_t max_compared_;
  std::vector<SuffixGroup> work_;
  std::vector<SuffixGroup> unresolved_;
  std::uint64_t n_unresolved_ = 0;
  std::uint64_t n_in_crowds_ = 0;
  std::vector<Keyed> keyed_;
  std::vector<Keyed> spare_;
};

}  // namespace biogpu::bwt
