#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "lib/bwt/suffix/tie_refiner.hpp"
#include "lib/core/run_on_threads.hpp"

namespace biogpu::bwt {

// Sorts what direct comparison left: suffixes that share h symbols compare as the suffixes h
// further on do, whose ranks are known to h symbols at least; every round doubles h. Only
// unresolved groups are touched. The groups and their ranks change in two steps with a barrier
// between them, so that the result of a round does not depend on the number of threads.
//
// Source  Larsson, Sadakane: Faster suffix sorting. doi:10.1016/j.tcs.2007.07.017
template <class Index>
class RankDoubling {
 public:
  RankDoubling(Index* sa, std::uint64_t n, int n_threads)
      : sa_(sa), n_(n), n_threads_(n_threads), rank_(n) {}

  // False when the rounds took more than max_work suffixes altogether: the groups are then still
  // unsorted.
  bool run(std::vector<SuffixGroup> groups, std::uint64_t max_work) {
    std::uint64_t h = ~std::uint64_t{0};
    for (const SuffixGroup& group : groups) h = std::min(h, group.depth);
    set_ranks(groups);
    for (std::uint64_t work = 0; !groups.empty(); h *= 2, ++n_rounds_) {
      for (const SuffixGroup& group : groups) work += group.size;
      if (work > max_work) return false;
      groups = round(groups, h);
    }
    return true;
  }

  int n_rounds() const { return n_rounds_; }

 private:
  struct Keyed {
    std::uint64_t key;
    Index position;
  };
  struct Worker {
    std::vector<Keyed> keyed;
    std::vector<Keyed> spare;
    std::vector<SuffixGroup> left;
  };
  // Groups that one job takes: many small ones together.
  static constexpr std::size_t kGroupsPerJob = 256;

  void set_ranks(const std::vector<SuffixGroup>& groups) {
    run_ranges_on_threads(n_threads_, n_, [&](std::size_t, std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t i = begin; i < end; ++i) rank_[sa_[i]] = static_cast<Index>(i);
    });
    share_groups(groups, [&](std::size_t, std::size_t g) {
      const SuffixGroup& group = groups[g];
      for (std::uint64_t i = 0; i < group.size; ++i)
        rank_[sa_[group.begin + i]] = static_cast<Index>(group.begin);
    });
  }

  template <class Job>
  void share_groups(const std::vector<SuffixGroup>& groups, const Job& job) {
    const std::size_t n_jobs = (groups.size() + kGroupsPerJob - 1) / kGroupsPerJob;
    run_on_threads(n_threads_, n_jobs, [&](std::size_t worker, std::size_t k) {
      const std::size_t end = std::min(groups.size(), (k + 1) * kGroupsPerJob);
      for (std::size_t g = k * kGroupsPerJob; g < end; ++g) job(worker, g);
    });
  }

  std::vector<SuffixGroup> round(const std::vector<SuffixGroup>& groups, std::uint64_t h) {
    std::vector<Worker> workers(static_cast<std::size_t>(std::max(n_threads_, 1)));
    std::vector<std::uint64_t> first(groups.size());  // of each group's new ranks
    std::uint64_t n_active = 0;
    for (std::size_t g = 0; g < groups.size(); ++g)
      first[g] = std::exchange(n_active, n_active + groups[g].size);
    if (new_rank_.size() < n_active) new_rank_ = BigArray<Index>(n_active);
    share_groups(groups, [&](std::size_t worker, std::size_t g) {
      sort_group(groups[g], h, new_rank_.data() + first[g], workers[worker]);
    });
    share_groups(groups, [&](std::size_t, std::size_t g) {
      for (std::uint64_t i = 0; i < groups[g].size; ++i)
        rank_[sa_[groups[g].begin + i]] = new_rank_[first[g] + i];
    });
    std::vector<SuffixGroup> left;
    for (const Worker& worker : workers)
      left.insert(left.end(), worker.left.begin(), worker.left.end());
    return left;
  }

  void sort_group(const SuffixGroup& group, std::uint64_t h, Index* new_rank, Worker& worker) {
    std::vector<Keyed>& keyed = worker.keyed;
    keyed.resize(group.size);
    Index* const sa = sa_ + group.begin;
    constexpr std::uint64_t kAhead = 16;
    for (std::uint64_t i = 0; i < group.size; ++i) {
      if (i + kAhead < group.size) __builtin_prefetch(rank_.data() + sa[i + kAhead] + h);
      keyed[i] = {rank_[sa[i] + h], sa[i]};
    }
    const auto by_key = [](const Keyed& a, const Keyed& b) { return a.key < b.key; };
    constexpr std::uint64_t kRadixLimit = 4096;
    if (group.size > kRadixLimit && group.size >> 32 == 0) {
      worker.spare.resize(group.size);
      const int low_bit = __builtin_clzll(n_ | 1);
      sort_by_radix(keyed.data(), worker.spare.data(), group.size, low_bit,
                    [low_bit](const Keyed& k) { return k.key << low_bit; });
    } else {
      std::sort(keyed.begin(), keyed.end(), by_key);
    }
    for (std::uint64_t begin = 0; begin < group.size;) {
      std::uint64_t end = begin;
      for (; end < group.size && keyed[end].key == keyed[begin].key; ++end) {
        sa[end] = keyed[end].position;
        new_rank[end] = static_cast<Index>(group.begin + begin);
      }
      if (end - begin > 1) worker.left.push_back({group.begin + begin, end - begin, 2 * h});
      begin = end;
    }
  }

  Index* const sa_;
  const std::uint64_t n_;
  const int n_threads_;
  BigArray<Index> rank_;      // of each suffix: where its group begins
  BigArray<Index> new_rank_;  // of the groups of a round, one after the other
  int n_rounds_ = 0;
};

}  // namespace biogpu::bwt
