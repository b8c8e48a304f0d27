// The search on the CPU: the targets are cut once into groups, and every query meets every group
// with 8-bit scores; what those cannot hold goes through 16 bits or align_cpu(). Where a query
// keeps its best hits only, scores below the last of those that it has so far are not followed.
#include <algorithm>
#include <functional>
#include <mutex>
#include <span>
#include <tuple>
#include <vector>

#include "lib/align/border.hpp"
#include "lib/align/cpu/group/group.hpp"
#include "lib/align/cpu/plan.hpp"
#include "lib/align/cpu/target_groups.hpp"
#include "lib/align/search.hpp"
#include "lib/core/cpu_isa.hpp"
#include "lib/core/parallel_for.hpp"

namespace biogpu::align {
namespace {

// Queries that meet a group one after the other: its residues are laid side by side once.
constexpr std::size_t kQueriesPerTask = 8;
// Scores kept until they are picked, at most.
constexpr std::size_t kScoresAtOnce = std::size_t{1} << 22;

// The score that a hit of each query has at least, by those that were offered so far.
class MinScores {
 public:
  MinScores(std::size_t n_queries, const SearchOptions& search)
      : search_(search), best_(n_queries) {}

  std::int32_t of(std::size_t query) {
    const std::lock_guard lock(mutex_);
    return of_locked(query);
  }

  void offer(std::size_t query, std::span<const std::int32_t> scores) {
    if (search_.top == 0) return;
    const std::lock_guard lock(mutex_);
    std::vector<std::int32_t>& best = best_[query];
    for (const std::int32_t score : scores) {
      if (score <= of_locked(query) && best.size() == search_.top) continue;
      if (best.size() == search_.top) {
        std::pop_heap(best.begin(), best.end(), std::greater<>());
        best.pop_back();
      }
      best.push_back(score);
      std::push_heap(best.begin(), best.end(), std::greater<>());
    }
  }

 private:
  std::int32_t of_locked(std::size_t query) const {
    const std::vector<std::int32_t>& best = best_[query];
    if (search_.top == 0 || best.size() < search_.top) return search_.min_score;
    return std::max(search_.min_score, best.front());
  }

  const SearchOptions search_;
  std::mutex mutex_;
  std::vector<std::vector<std::int32_t>> best_;  // [query]: heaps, the least in front
};

class CpuSearch {
 public:
  CpuSearch(const SequenceSet& queries, const SequenceSet& targets, const Options& options,
            int n_threads)
      : queries_(queries),
        targets_(targets),
        options_(options),
        groups_(targets, group_lanes(true),
                options.mode == Mode::local && !is_xor_table(options.scoring)),
        workers_(static_cast<std::size_t>(std::max(n_threads, 1))) {
    options_.output = Output::score;
  }

  Hits run(const SearchOptions& search) {
    Hits hits;
    const std::size_t n_targets = targets_.size();
    const std::size_t at_once =
        std::clamp<std::size_t>(kScoresAtOnce / std::max<std::size_t>(n_targets, 1), 1, 1024);
    for (std::size_t first = 0; first < queries_.size(); first += at_once) {
      const std::size_t last = std::min(queries_.size(), first + at_once);
      score(first, last, search);
      for (std::size_t query = first; query < last; ++query) {
        HitPicker picker(search);
        for (std::size_t target = 0; target < n_targets; ++target)
          picker.offer(
              {static_cast<std::uint32_t>(target), scores_[(query - first) * n_targets + target]});
        picker.finish(hits);
      }
    }
    return hits;
  }

 private:
  struct Worker {
    Scratch scratch;
    GroupResult result;
    std::vector<std::uint8_t> text;  // of lanes that hold several targets
    std::vector<std::int32_t> scores;
    std::vector<Pair> saturated;  // with 8 bits
    std::vector<Pair> left;       // not for groups of targets
  };

  // Scores of the queries first .. last against all targets.
  void score(std::size_t first, std::size_t last, const SearchOptions& search) {
    scores_.assign((last - first) * targets_.size(), 0);
    MinScores least(last - first, search);
    const std::size_t n_groups = groups_.groups().size();
    const std::size_t n_blocks = (last - first + kQueriesPerTask - 1) / kQueriesPerTask;
    parallel_for_jobs(workers_.size(), n_groups * n_blocks, [&](std::size_t w, std::size_t task) {
      const std::size_t begin = first + task % n_blocks * kQueriesPerTask;
      // A small group comes before the largest, so that few queries meet that without any hits.
      const std::size_t nth = task / n_blocks, small = n_groups / 2;
      const std::size_t group = nth == 0 ? small : nth <= small ? nth - 1 : nth;
      meet(workers_[w], begin, std::min(last, begin + kQueriesPerTask), first,
           groups_.groups()[group], least);
    });
    score_saturated(first);
    score_left(first, last);
  }

  // The queries begin .. end against one group.
  void meet(Worker& worker, std::size_t begin, std::size_t end, std::size_t first,
            const TargetGroups::Group& group, MinScores& least) {
    LanePair lanes[kMaxLanes];
    const std::size_t n_lanes = groups_.lay_out(group, worker.text, lanes);
    GroupJob job{&options_, {lanes, n_lanes}, true, true, false, &worker.scratch, group.ends};
    for (std::size_t query = begin; query < end; ++query) {
      const auto m = static_cast<std::int64_t>(queries_.length(query));
      // Bounds grow with the length: where the longest fits, all do.
      const Width width =
          m == 0 ? Width::single : chooser_.choose(m, static_cast<std::int64_t>(group.longest));
      if (width != Width::narrow && width != Width::narrow_at_first) {
        for (const std::uint32_t target : group.targets) leave(worker, query, target);
        continue;
      }
      for (std::size_t l = 0; l < n_lanes; ++l) lanes[l].query = queries_.sequence(query);
      job.min_score = least.of(query - first);
      align_group_score(job, worker.result);
      job.same_targets = true;
      take_scores(worker, query, first, group);
      least.offer(query - first, worker.scores);
    }
  }

  // The result of one query against one group.
  void take_scores(Worker& worker, std::size_t query, std::size_t first,
                   const TargetGroups::Group& group) {
    const GroupResult& result = worker.result;
    worker.scores.clear();
    for (std::size_t k = 0; k < group.targets.size(); ++k) {
      const EndedScore got =
          group.ends.empty() ? EndedScore{result.score[k], result.saturated[k]} : result.ended[k];
      if (got.saturated) {
        worker.saturated.push_back({static_cast<std::uint32_t>(query), group.targets[k]});
      } else {
        worker.scores.push_back(got.score);
        scores_[(query - first) * targets_.size() + group.targets[k]] = got.score;
      }
    }
  }

  static void leave(Worker& worker, std::size_t query, std::uint32_t target) {
    worker.left.push_back({static_cast<std::uint32_t>(query), target});
  }

  // With 16 bits, the targets of a query together.
  void score_saturated(std::size_t first) {
    std::vector<Pair> pairs;
    for (Worker& worker : workers_) {
      pairs.insert(pairs.end(), worker.saturated.begin(), worker.saturated.end());
      worker.saturated.clear();
    }
    const auto key = [&](const Pair& pair) {
      return std::tuple(pair.query, targets_.length(pair.target), pair.target);
    };
    std::sort(pairs.begin(), pairs.end(),
              [&](const Pair& a, const Pair& b) { return key(a) < key(b); });
    std::vector<std::span<const Pair>> groups;
    const auto lanes = static_cast<std::size_t>(group_lanes(false));
    for (std::size_t begin = 0, end = 0; begin < pairs.size(); begin = end) {
      while (end < pairs.size() && end - begin < lanes && pairs[end].query == pairs[begin].query)
        ++end;
      groups.emplace_back(std::span(pairs).subspan(begin, end - begin));
    }
    parallel_for_jobs(workers_.size(), groups.size(), [&](std::size_t w, std::size_t k) {
      score_wide(workers_[w], first, groups[k]);
    });
  }

  void score_wide(Worker& worker, std::size_t first, std::span<const Pair> group) {
    LanePair lanes[kMaxLanes];
    for (std::size_t l = 0; l < group.size(); ++l)
      lanes[l] = {queries_.sequence(group[l].query), targets_.sequence(group[l].target)};
    align_group_score({&options_, {lanes, group.size()}, false, true, false, &worker.scratch},
                      worker.result);
    for (std::size_t l = 0; l < group.size(); ++l) {
      if (worker.result.saturated[l]) {
        worker.left.push_back(group[l]);
      } else {
        scores_[(group[l].query - first) * targets_.size() + group[l].target] =
            worker.result.score[l];
      }
    }
  }

  void score_left(std::size_t first, std::size_t last) {
    std::vector<Pair> left;
    for (Worker& worker : workers_) {
      left.insert(left.end(), worker.left.begin(), worker.left.end());
      worker.left.clear();
    }
    for (std::size_t query = first; query < last; ++query)
      for (const std::uint32_t target : groups_.empty())
        left.push_back({static_cast<std::uint32_t>(query), target});
    if (left.empty()) return;
    const Alignments scored =
        align_cpu({queries_, targets_, left}, options_, static_cast<int>(workers_.size()));
    for (std::size_t k = 0; k < left.size(); ++k)
      scores_[(left[k].query - first) * targets_.size() + left[k].target] = scored.rows[k].score;
  }

  const SequenceSet queries_, targets_;
  Options options_;
  const WidthChooser chooser_{options_};
  const TargetGroups groups_;
  std::vector<Worker> workers_;
  std::vector<std::int32_t> scores_;  // [query - first][target]
};

// Every pair through align_cpu(), for bands and X-drop.
Hits search_pairs(const SequenceSet& queries, const SequenceSet& targets, Options options,
                  const SearchOptions& search, int n_threads) {
  options.output = Output::score;
  Hits hits;
  std::vector<Pair> pairs(targets.size());
  for (std::uint32_t query = 0; query < queries.size(); ++query) {
    for (std::uint32_t target = 0; target < targets.size(); ++target)
      pairs[target] = {query, target};
    const Alignments scored = align_cpu({queries, targets, pairs}, options, n_threads);
    HitPicker picker(search);
    for (std::uint32_t target = 0; target < targets.size(); ++target)
      picker.offer({target, scored.rows[target].score});
    picker.finish(hits);
  }
  return hits;
}

}  // namespace

Hits search_cpu(const SequenceSet& queries, const SequenceSet& targets, const Options& options,
                const SearchOptions& search, int n_threads) {
  prepare_cpu_isa();
  validate({queries, targets, {}}, options);
  if (options.band != kNoBand || is_extension(options))
    return search_pairs(queries, targets, options, search, n_threads);
  return CpuSearch(queries, targets, options, n_threads).run(search);
}

}  // namespace biogpu::align
