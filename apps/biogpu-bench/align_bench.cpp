#include "apps/biogpu-bench/align_bench.hpp"

#include <fmt/format.h>
#include <tbb/task_arena.h>

#include <chrono>
#include <cmath>

#include "apps/biogpu-bench/align_inputs.hpp"
#include "apps/biogpu-bench/align_search_bench.hpp"
#include "lib/align/align.hpp"
#include "lib/core/error.hpp"
#include "lib/core/parallel_for.hpp"

namespace biogpu::bench {
namespace {

using align::Mode;
using align::Output;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Workload {
  std::string name;
  const PairSet* pairs = nullptr;
  Mode mode = Mode::local;
  Output output = Output::score;
  std::size_t n_compared = 0;  // pairs compared with the CPU
  int n_runs = 5;
  bool in_cells = false;  // GCUPS instead of pairs a second
  std::int64_t band = align::kNoBand;
  std::int32_t xdrop = align::kNoXdrop;
};

class AlignBench {
 public:
  explicit AlignBench(const AlignBenchSettings& settings)
      : settings_(settings), arena_(arena_threads(static_cast<std::size_t>(settings.n_threads))) {}

  std::vector<Figure> all() {
    short_pairs();
    long_pairs();
    unequal();
    for (Figure& figure : measure_search(settings_)) figures_.push_back(std::move(figure));
    huge_pair();
    return std::move(figures_);
  }

 private:
  bool wanted(const std::string& name) const {
    return name.find(settings_.only) != std::string::npos;
  }

  void compare(const Workload& workload, const align::Options& options,
               align::GpuAligner& aligner) {
    const align::Work sample = workload.pairs->first(workload.n_compared);
    const align::Alignments expected = align_cpu(sample, options, settings_.n_threads);
    const align::Alignments got = arena_.execute([&] { return aligner.align(sample); });
    bool equal = got.cigar == expected.cigar && got.rows.size() == expected.rows.size();
    for (std::size_t i = 0; equal && i < got.rows.size(); ++i) {
      const align::Alignment &a = got.rows[i], &b = expected.rows[i];
      equal = a.score == b.score && a.query_begin == b.query_begin && a.query_end == b.query_end &&
              a.target_begin == b.target_begin && a.target_end == b.target_end &&
              a.matches == b.matches && a.similar == b.similar && a.length == b.length &&
              a.n_cigar == b.n_cigar && a.cigar_begin == b.cigar_begin;
    }
    if (!equal) {
      throw Error(ErrorCode::failed,
                  fmt::format("{}: the GPU's rows differ from the CPU's", workload.name));
    }
  }

  void add(std::string name, std::string unit, std::string how, std::vector<double> runs) {
    Figure figure;
    figure.name = std::move(name);
    figure.unit = std::move(unit);
    figure.how = std::move(how);
    figures_.push_back(summarise(std::move(figure), std::move(runs)));
  }

  void run(const Workload& workload) {
    if (!wanted(workload.name)) return;
    align::Options options;
    options.mode = workload.mode;
    options.free_ends = {true, true, true, true};
    options.output = workload.output;
    options.scoring = align::dna_scoring(2, -3, 5, 2);
    options.band = workload.band;
    options.xdrop = workload.xdrop;
    const auto aligner = align::make_gpu_aligner(settings_.device, options, 0);
    compare(workload, options, *aligner);
    const align::Work work = workload.pairs->work();
    const double n = workload.in_cells ? static_cast<double>(count_cells(work)) * 1e-9
                                       : static_cast<double>(work.pairs.size());
    std::vector<double> on_device, host_to_host;
    for (int i = -1; i < workload.n_runs; ++i) {
      const double device_before = aligner->device_seconds(), before = now();
      const align::Alignments all = arena_.execute([&] { return aligner->align(work); });
      const double seconds = now() - before;
      if (i < 0) continue;  // warms caches, clocks and memory
      on_device.push_back(n / (aligner->device_seconds() - device_before));
      host_to_host.push_back(n / seconds);
    }
    const std::string unit = workload.in_cells ? "GCUPS" : "pairs/s";
    const std::string how = fmt::format("{} pairs, {} compared", work.pairs.size(),
                                        std::min(workload.n_compared, work.pairs.size()));
    add(workload.name + ", device", unit, how + "; kernels alone, summed over streams", on_device);
    add(workload.name + ", host to host", unit, how + "; residues in memory to rows in memory",
        host_to_host);
  }

  void short_pairs() {
    const PairSet pairs = mutated_pairs(settings_.quick ? 300 : 1 << 20, 150, 20);
    const std::size_t n = 20000;
    run({"150 bp sw score", &pairs, Mode::local, Output::score, n});
    run({"150 bp nw score", &pairs, Mode::global, Output::score, n});
    run({"150 bp sg score", &pairs, Mode::semiglobal, Output::score, n});
    run({"150 bp sw ends", &pairs, Mode::local, Output::ends, n});
    run({"150 bp sw statistics", &pairs, Mode::local, Output::statistics, n});
    run({"150 bp sw cigar", &pairs, Mode::local, Output::cigar, n});
    run({"150 bp nw cigar", &pairs, Mode::global, Output::cigar, n});
    run({"150 bp sg cigar", &pairs, Mode::semiglobal, Output::cigar, n});
    parts("150 bp", pairs, n);
  }

  void long_pairs() {
    const PairSet pairs =
        mutated_pairs(settings_.quick ? 2 : 2000, settings_.quick ? 700 : 10000, 20);
    run({"10 kbp sw score", &pairs, Mode::local, Output::score, 16, 2});
    run({"10 kbp sw cigar", &pairs, Mode::local, Output::cigar, 16, 2});
    run({"10 kbp nw cigar", &pairs, Mode::global, Output::cigar, 16, 2});
    parts("10 kbp", pairs, 64);
  }

  // Of which only parts of the matrix are filled.
  void parts(const std::string& length, const PairSet& pairs, std::size_t n_compared) {
    for (const Output output : {Output::score, Output::cigar}) {
      const char* what = output == Output::score ? "score" : "cigar";
      Workload band = {fmt::format("{} nw {}, band 100", length, what),
                       &pairs,
                       Mode::global,
                       output,
                       n_compared,
                       2};
      band.band = 100;
      run(band);
      Workload drop = {fmt::format("{} X-drop 100 {}", length, what),
                       &pairs,
                       Mode::local,
                       output,
                       n_compared,
                       2};
      drop.xdrop = 100;
      run(drop);
    }
  }

  // The same number of cells in pairs of one length and of lengths that differ 40-fold.
  void unequal() {
    const std::size_t n = settings_.quick ? 40 : 1 << 17;
    const std::size_t longest = settings_.quick ? 300 : 2000;
    const PairSet mixed = unequal_pairs(n, 50, longest, 20);
    const double cells = static_cast<double>(count_cells(mixed.work()));
    const auto length = static_cast<std::size_t>(std::sqrt(cells / static_cast<double>(n)));
    const PairSet equal = mutated_pairs(n, length, 20);
    for (const Output output : {Output::score, Output::cigar}) {
      const char* what = output == Output::score ? "score" : "cigar";
      run({fmt::format("equal lengths sw {}", what), &equal, Mode::local, output, 2000, 3, true});
      run({fmt::format("unequal lengths sw {}", what), &mixed, Mode::local, output, 2000, 3, true});
    }
  }

  void huge_pair() {
    const PairSet sample = mutated_pairs(1, settings_.quick ? 900 : 20000, 20);
    const PairSet pair = settings_.quick ? sample : mutated_pairs(1, 1000000, 20);
    for (const Mode mode : {Mode::local, Mode::global}) {
      for (const Output output : {Output::score, Output::cigar}) {
        const std::string name =
            fmt::format("one pair of 1 Mbp {} {}", mode == Mode::local ? "sw" : "nw",
                        output == Output::score ? "score" : "cigar");
        if (!wanted(name)) continue;
        align::Options options;
        options.mode = mode;
        options.output = output;
        options.scoring = align::dna_scoring(2, -3, 5, 2);
        const auto aligner = align::make_gpu_aligner(settings_.device, options, 0);
        compare({name, &sample, mode, output, 1}, options, *aligner);
        std::vector<double> seconds;
        for (int i = 0; i < 2; ++i) {
          const double before = now();
          const align::Alignments all = arena_.execute([&] { return aligner->align(pair.work()); });
          seconds.push_back(now() - before);
          verify(name, options, pair, all);
        }
        add(name, "s", "host to host; the path's score checked", seconds);
      }
    }
  }

  static void verify(const std::string& name, const align::Options& options, const PairSet& pair,
                     const align::Alignments& all) {
    if (options.output != Output::cigar) return;
    const align::Alignment& row = all.rows[0];
    const auto cigar = std::span(all.cigar).subspan(row.cigar_begin, row.n_cigar);
    if (rescore(pair.work(), options, pair.pairs[0], row, cigar) != row.score)
      throw Error(ErrorCode::failed, name + ": the path is not worth its score");
  }

  const AlignBenchSettings settings_;
  tbb::task_arena arena_;
  std::vector<Figure> figures_;
};

}  // namespace

std::vector<Figure> measure_align(const AlignBenchSettings& settings) {
  return AlignBench(settings).all();
}

}  // namespace biogpu::bench
