// The CPU backend's way: pairs are tried with 8-bit scores, those that could or did leave the range
// with 16, the rest alone with 32; with a band or X-drop each pair goes alone, by anti-diagonals.
// Every step shares its groups among the threads.
#include <algorithm>
#include <atomic>
#include <utility>

#include "lib/align/align.hpp"
#include "lib/align/border.hpp"
#include "lib/align/cpu/banded/banded_xdrop.hpp"
#include "lib/align/cpu/group/group.hpp"
#include "lib/align/cpu/long/long_pair.hpp"
#include "lib/align/cpu/plan.hpp"
#include "lib/core/cpu_isa.hpp"
#include "lib/core/parallel_for.hpp"

namespace biogpu::align {
namespace {

// Cells that a traceback looks ahead, along its diagonal, for the bits to arrive from the second
// cache.
constexpr std::int64_t kPrefetch = 12;

// What one thread keeps. Paths gather here and are put in order at the end.
struct Worker {
  Scratch scratch;
  std::vector<std::uint32_t> cigar;
  CigarBuilder builder;
  std::vector<std::uint32_t> saturated;  // pairs to try again, wider
  GroupResult result;
};

class CpuRun {
 public:
  CpuRun(const Work& work, const Options& options, int n_threads)
      : work_(work),
        options_(options),
        workers_(std::max(n_threads, 1)),
        in_band_(options.band != kNoBand || is_extension(options)) {
    result_.rows.resize(work.pairs.size());
    if (options.output == Output::cigar) owner_.resize(work.pairs.size());
  }

  Alignments run() {
    std::vector<std::uint32_t> narrow, at_first, wide;
    sort_by_width(narrow, at_first, wide);
    run_groups(narrow, true, false);
    collect_saturated(wide);
    run_groups(at_first, true, true);
    collect_saturated(wide);
    run_groups(wide, false, false);
    collect_saturated(singles_);
    run_singles();
    collect_paths();
    return std::move(result_);
  }

 private:
  void sort_by_width(std::vector<std::uint32_t>& narrow, std::vector<std::uint32_t>& at_first,
                     std::vector<std::uint32_t>& wide) {
    const WidthChooser chooser(options_);
    const Int32Check check(options_);
    for (std::uint32_t p = 0; p < work_.pairs.size(); ++p) {
      const auto m = static_cast<std::int64_t>(work_.queries.length(work_.pairs[p].query));
      const auto n = static_cast<std::int64_t>(work_.targets.length(work_.pairs[p].target));
      check.require(m, n);
      if (m == 0 || n == 0) {
        result_.rows[p] = align_empty(options_, m, n, workers_[0].cigar);
        continue;
      }
      if (in_band_) {
        singles_.push_back(p);
        continue;
      }
      switch (chooser.choose(m, n)) {
        case Width::narrow:
          narrow.push_back(p);
          break;
        case Width::narrow_at_first:
          at_first.push_back(p);
          break;
        case Width::wide:
          wide.push_back(p);
          break;
        case Width::single:
          singles_.push_back(p);
          break;
      }
    }
  }

  // may_skip: where most lanes saturate, the groups left go to the next width untried.
  void run_groups(std::span<const std::uint32_t> pairs, bool narrow, bool may_skip) {
    if (pairs.empty()) return;
    const Plan plan = make_plan(work_, options_, pairs, group_lanes(narrow));
    singles_.insert(singles_.end(), plan.singles.begin(), plan.singles.end());
    std::atomic<std::size_t> n_tried{0}, n_saturated{0};
    parallel_for_jobs(workers_.size(), plan.groups.size(), [&](std::size_t w, std::size_t k) {
      Worker& worker = workers_[w];
      const Group& group = plan.groups[k];
      const std::span order(plan.order.data() + group.begin, group.end - group.begin);
      const std::size_t tried = n_tried.load(), before = n_saturated.load();
      if (may_skip && tried >= 2 * kMaxLanes && before * 2 > tried) {
        worker.saturated.insert(worker.saturated.end(), order.begin(), order.end());
        return;
      }
      const std::size_t known = worker.saturated.size();
      run_group(worker, order, narrow, group.same_query);
      n_tried += order.size();
      n_saturated += worker.saturated.size() - known;
    });
  }

  void run_group(Worker& worker, std::span<const std::uint32_t> order, bool narrow,
                 bool same_query) {
    LanePair lanes[kMaxLanes];
    for (std::size_t l = 0; l < order.size(); ++l) {
      const Pair& pair = work_.pairs[order[l]];
      lanes[l] = {work_.queries.sequence(pair.query), work_.targets.sequence(pair.target)};
    }
    const GroupJob job{&options_, {lanes, order.size()}, narrow, same_query,
                       false,     &worker.scratch};
    const bool path = wants_path(options_);
    (path ? align_group_trace : align_group_score)(job, worker.result);
    for (std::size_t l = 0; l < order.size(); ++l) {
      if (worker.result.saturated[l]) {
        worker.saturated.push_back(order[l]);
      } else {
        take_lane(worker, lanes[l], static_cast<int>(l), order[l]);
      }
    }
  }

  void take_lane(Worker& worker, const LanePair& pair, int lane, std::uint32_t index) {
    const GroupResult& r = worker.result;
    Alignment& row = result_.rows[index];
    row.score = r.score[lane];
    if (options_.output == Output::score || (options_.mode == Mode::local && row.score == 0))
      return;
    row.query_end = r.query_end[lane];
    row.target_end = r.target_end[lane];
    if (!wants_path(options_)) return;
    Traceback traceback(options_, pair.query, pair.target, std::move(worker.builder));
    traceback.start(row.query_end, row.target_end, row.score);
    traceback.run(0, [&](std::int64_t i, std::int64_t j) {
      r.trace.prefetch(std::max<std::int64_t>(i - kPrefetch, 0),
                       std::max<std::int64_t>(j - kPrefetch, 0));
      return r.trace.cell(lane, i, j);
    });
    traceback.finish(row, worker.cigar);
    worker.builder = traceback.take_builder();
    if (!owner_.empty()) owner_[index] = static_cast<std::uint32_t>(&worker - workers_.data());
  }

  void run_singles() {
    const PairScores scores(options_.scoring);
    parallel_for_jobs(workers_.size(), singles_.size(), [&](std::size_t w, std::size_t k) {
      Worker& worker = workers_[w];
      const std::uint32_t p = singles_[k];
      const Pair& pair = work_.pairs[p];
      const auto query = work_.queries.sequence(pair.query);
      const auto target = work_.targets.sequence(pair.target);
      result_.rows[p] =
          in_band_
              ? align_banded_pair(options_, scores, query, target, worker.scratch, worker.cigar)
              : align_long_pair(options_, scores, query, target, worker.scratch, worker.cigar);
      if (!owner_.empty()) owner_[p] = static_cast<std::uint32_t>(&worker - workers_.data());
    });
  }

  void collect_saturated(std::vector<std::uint32_t>& next) {
    for (Worker& worker : workers_) {
      next.insert(next.end(), worker.saturated.begin(), worker.saturated.end());
      worker.saturated.clear();
    }
  }

  // Paths in the order of the pairs.
  void collect_paths() {
    if (options_.output != Output::cigar) return;
    std::size_t n = 0;
    for (const Worker& worker : workers_) n += worker.cigar.size();
    result_.cigar.reserve(n);
    for (std::size_t p = 0; p < result_.rows.size(); ++p) {
      Alignment& row = result_.rows[p];
      const std::uint32_t* path = workers_[owner_[p]].cigar.data() + row.cigar_begin;
      row.cigar_begin = row.n_cigar > 0 ? result_.cigar.size() : 0;
      result_.cigar.insert(result_.cigar.end(), path, path + row.n_cigar);
    }
  }

  const Work& work_;
  const Options& options_;
  std::vector<Worker> workers_;
  std::vector<std::uint32_t> owner_;    // worker whose `cigar` holds a pair's path
  std::vector<std::uint32_t> singles_;  // pairs aligned on their own, with 32 bits
  const bool in_band_;                  // all pairs are, within a band or with X-drop
  Alignments result_;
};

}  // namespace

Alignments align_cpu(const Work& work, const Options& options, int n_threads) {
  prepare_cpu_isa();
  validate(work, options);
  return CpuRun(work, options, n_threads).run();
}

}  // namespace biogpu::align
