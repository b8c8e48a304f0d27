#include "apps/biogpu-bench/align_search_bench.hpp"

#include <fmt/format.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <chrono>

#include "apps/biogpu-bench/align_inputs.hpp"
#include "lib/align/align.hpp"
#include "lib/align/search.hpp"
#include "lib/core/error.hpp"
#include "lib/core/parallel_for.hpp"

namespace biogpu::bench {
namespace {

constexpr std::size_t kAll = ~std::size_t{0};
constexpr std::size_t kRuns = 3;
// Runs until so many seconds have passed: of searches that take a hundredth of one, the first ones
// find the device's clock low.
constexpr double kWarmSeconds = 0.5;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string describe_lengths(const align::SequenceSet& set) {
  std::uint64_t shortest = ~std::uint64_t{0}, longest = 0;
  for (std::size_t i = 0; i < set.size(); ++i) {
    shortest = std::min<std::uint64_t>(shortest, set.length(i));
    longest = std::max<std::uint64_t>(longest, set.length(i));
  }
  return shortest == longest ? fmt::format("{}", longest)
                             : fmt::format("{} to {}", shortest, longest);
}

class SearchBench {
 public:
  explicit SearchBench(const AlignBenchSettings& settings)
      : settings_(settings), arena_(arena_threads(static_cast<std::size_t>(settings.n_threads))) {
    options_.output = align::Output::score;
    options_.scoring = align::blosum62_scoring(11, 1);
  }

  std::vector<Figure> all() {
    const bool quick = settings_.quick;
    const std::size_t n = quick ? 100 : 500000;
    if (wanted("protein search sw"))
      run("protein search sw", protein_sets(n, quick ? 60 : 512, quick), 500);
    if (wanted("unequal protein search sw"))
      run("unequal protein search sw", unequal_protein_sets(n, quick), 500);
    if (!settings_.proteome.empty() && wanted("proteome search sw")) {
      run("proteome search sw",
          read_protein_sets(settings_.queries, settings_.proteome, options_.scoring), kAll);
    }
    return std::move(figures_);
  }

 private:
  bool wanted(const std::string& name) const {
    return name.find(settings_.only) != std::string::npos;
  }

  std::vector<std::int32_t> cpu_scores(const PairSet& sets,
                                       const std::vector<align::Pair>& pairs) const {
    std::vector<std::int32_t> scores;
    const align::Work work = {sets.queries(), sets.targets(), pairs};
    for (const align::Alignment& row : align_cpu(work, options_, settings_.n_threads).rows)
      scores.push_back(row.score);
    return scores;
  }

  // All scores of the first targets against the CPU's.
  void compare(const std::string& name, const PairSet& sets, std::size_t n_targets) {
    const align::SequenceSet all = sets.targets();
    const align::SequenceSet few = {all.residues,
                                    all.begin.first(std::min(n_targets, all.size()) + 1)};
    std::vector<align::Pair> pairs;
    for (std::uint32_t q = 0; q < sets.queries().size(); ++q)
      for (std::uint32_t t = 0; t < few.size(); ++t) pairs.push_back({q, t});
    const std::vector<std::int32_t> expected = cpu_scores(sets, pairs);
    const auto searcher = align::make_gpu_searcher(settings_.device, few, options_, {0, 0}, 0);
    const align::Hits hits = arena_.execute([&] { return searcher->search(sets.queries()); });
    bool equal = hits.rows.size() == pairs.size();
    for (std::size_t q = 0; equal && q < hits.n_queries(); ++q)
      for (const align::Hit& hit : hits.of(q))
        equal = equal && hit.score == expected[q * few.size() + hit.target];
    if (!equal) fail(name);
  }

  void compare_hits(const std::string& name, const PairSet& sets, const align::Hits& hits) {
    std::vector<align::Pair> pairs;
    std::vector<std::int32_t> scores;
    for (std::uint32_t q = 0; q < hits.n_queries(); ++q) {
      for (const align::Hit& hit : hits.of(q)) {
        pairs.push_back({q, hit.target});
        scores.push_back(hit.score);
      }
    }
    if (cpu_scores(sets, pairs) != scores) fail(name);
  }

  [[noreturn]] static void fail(const std::string& name) {
    throw Error(ErrorCode::failed, name + ": the GPU's scores differ from the CPU's");
  }

  // n_compared: targets.
  void run(const std::string& name, const PairSet& sets, std::size_t n_compared) {
    compare(name, sets, n_compared);
    const auto searcher =
        align::make_gpu_searcher(settings_.device, sets.targets(), options_, {10, 1}, 0);
    const double cells = 1e-9 * static_cast<double>(sets.query_residues.size()) *
                         static_cast<double>(sets.target_residues.size());
    const auto search = [&] {
      return arena_.execute([&] { return searcher->search(sets.queries()); });
    };
    compare_hits(name, sets, search());  // copies the targets
    const double begin = now(), warm = settings_.quick ? 0 : kWarmSeconds;
    while (now() - begin < warm) search();
    std::vector<double> on_device, host_to_host;
    while (on_device.size() < kRuns || now() - begin < 2 * warm) {
      const double device_before = searcher->device_seconds(), before = now();
      search();
      host_to_host.push_back(cells / (now() - before));
      on_device.push_back(cells / (searcher->device_seconds() - device_before));
    }
    const std::string how =
        fmt::format("{} queries of {}, {} targets of {}, {:.1f} Gcells, blosum62 11/1, best 10",
                    sets.queries().size(), describe_lengths(sets.queries()), sets.targets().size(),
                    describe_lengths(sets.targets()), cells);
    add(name + ", device", how + "; kernels alone", on_device);
    add(name + ", host to host", how + "; targets on the device", host_to_host);
  }

  void add(std::string name, std::string how, std::vector<double> runs) {
    Figure figure;
    figure.name = std::move(name);
    figure.unit = "GCUPS";
    figure.how = std::move(how);
    figures_.push_back(summarise(std::move(figure), std::move(runs)));
  }

  const AlignBenchSettings settings_;
  tbb::task_arena arena_;
  align::Options options_;
  std::vector<Figure> figures_;
};

}  // namespace

std::vector<Figure> measure_search(const AlignBenchSettings& settings) {
  return SearchBench(settings).all();
}

}  // namespace biogpu::bench
