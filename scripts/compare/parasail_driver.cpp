// Times biogpu and Parasail on the same pairs, in the same process, Parasail and the CPU backend on
// as many threads, after the scores were compared; prints one JSON object. Called by
// parasail_library.py and scripts/bench/align_gpu.py.
//
//   parasail_driver PAIRS MODE OUTPUT MATRIX OPEN EXTEND THREADS REPEATS DEVICE [FIRST [FUNCTIONS]]
//
// PAIRS   lines "query <tab> target"; equal queries on consecutive lines count as one query, which
//         lets Parasail use its profile functions; biogpu-bench pairs writes such
// MODE    nw, sg or sw; OUTPUT score or cigar; MATRIX blosum62 or match,mismatch
// DEVICE  cpu, or gpu for device 0: from residues in host memory to results in host memory
// FIRST   Parasail takes so many of the pairs alone, of which a GPU wants more to be busy
// FUNCTIONS  of Parasail, separated by commas, instead of all that could be the best
#include <fmt/format.h>
#include <parasail.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <functional>
#include <memory>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "lib/align/align.hpp"
#include "lib/core/cpu_isa.hpp"

namespace {

using namespace biogpu::align;

struct Input {
  std::vector<std::string> queries, targets;
  std::vector<Pair> pairs;
};

Input read_pairs(const std::string& path) {
  Input input;
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  for (std::string line; std::getline(file, line);) {
    const std::size_t tab = line.find('\t');
    if (tab == std::string::npos) throw std::runtime_error(path + ": a line without a tab");
    const std::string query = line.substr(0, tab);
    if (input.queries.empty() || input.queries.back() != query) input.queries.push_back(query);
    input.targets.push_back(line.substr(tab + 1));
    input.pairs.push_back({static_cast<std::uint32_t>(input.queries.size() - 1),
                           static_cast<std::uint32_t>(input.targets.size() - 1)});
  }
  return input;
}

struct Encoded {
  std::vector<std::uint8_t> residues;
  std::vector<std::uint64_t> begin{0};
  Encoded(const std::vector<std::string>& texts, const Scoring& scoring) {
    for (const std::string& text : texts) {
      for (const char c : text) residues.push_back(scoring.class_of[static_cast<unsigned char>(c)]);
      begin.push_back(residues.size());
    }
  }
  SequenceSet view() const { return {residues, begin}; }
};

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double best_of(int repeats, const std::function<void()>& work) {
  double best = seconds_of(work);
  for (int k = 1; k < repeats; ++k) best = std::min(best, seconds_of(work));
  return best;
}

// One of Parasail's functions over all pairs; the pairs are shared in chunks.
class Parasail {
 public:
  Parasail(const Input& input, const Options& options, const parasail_matrix_t* matrix,
           int n_threads, std::size_t n_pairs)
      : input_(input),
        options_(options),
        matrix_(matrix),
        n_threads_(n_threads),
        n_pairs_(n_pairs) {}

  // Returns false when a score differs from `want`: the function saturated.
  bool run(const std::string& name, const std::vector<Alignment>& want) {
    if (name.find("profile") != std::string::npos) return run_profile(name, want);
    parasail_function_t* function = parasail_lookup_function(name.c_str());
    if (function == nullptr) throw std::runtime_error("Parasail has no " + name);
    return share([&](std::size_t p) {
      const std::string& query = input_.queries[input_.pairs[p].query];
      const std::string& target = input_.targets[input_.pairs[p].target];
      return take(function(query.data(), static_cast<int>(query.size()), target.data(),
                           static_cast<int>(target.size()), options_.scoring.gap_open,
                           options_.scoring.gap_extend, matrix_),
                  query, target, want[p].score);
    });
  }

 private:
  bool run_profile(const std::string& name, const std::vector<Alignment>& want) {
    parasail_pfunction_t* function = parasail_lookup_pfunction(name.c_str());
    parasail_pcreator_t* create = parasail_lookup_pcreator(name.c_str());
    if (function == nullptr || create == nullptr)
      throw std::runtime_error("Parasail has no " + name);
    std::vector<parasail_profile_t*> profiles;
    for (const std::string& query : input_.queries)
      profiles.push_back(create(query.data(), static_cast<int>(query.size()), matrix_));
    const bool equal = share([&](std::size_t p) {
      const std::string& target = input_.targets[input_.pairs[p].target];
      return take(
          function(profiles[input_.pairs[p].query], target.data(), static_cast<int>(target.size()),
                   options_.scoring.gap_open, options_.scoring.gap_extend),
          input_.queries[input_.pairs[p].query], target, want[p].score);
    });
    for (parasail_profile_t* profile : profiles) parasail_profile_free(profile);
    return equal;
  }

  bool take(parasail_result_t* result, const std::string& query, const std::string& target,
            int want) {
    const bool equal = parasail_result_get_score(result) == want;
    if (options_.output == Output::cigar) {
      parasail_cigar_t* cigar =
          parasail_result_get_cigar(result, query.data(), static_cast<int>(query.size()),
                                    target.data(), static_cast<int>(target.size()), matrix_);
      parasail_cigar_free(cigar);
    }
    parasail_result_free(result);
    return equal;
  }

  bool share(const std::function<bool(std::size_t)>& job) {
    // Long pairs are few: no thread may hold many of them.
    const std::size_t chunk =
        std::clamp<std::size_t>(n_pairs_ / static_cast<std::size_t>(16 * n_threads_), 1, 64);
    std::atomic<std::size_t> next{0};
    std::atomic<bool> equal{true};
    std::vector<std::thread> threads;
    for (int t = 0; t < n_threads_; ++t) {
      threads.emplace_back([&] {
        for (std::size_t at = next.fetch_add(chunk); at < n_pairs_; at = next.fetch_add(chunk))
          for (std::size_t p = at; p < std::min(at + chunk, n_pairs_); ++p)
            if (!job(p)) equal = false;
      });
    }
    for (std::thread& thread : threads) thread.join();
    return equal;
  }

  const Input& input_;
  const Options& options_;
  const parasail_matrix_t* matrix_;
  int n_threads_;
  std::size_t n_pairs_;
};

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> names;
  std::istringstream text(list);
  for (std::string name; std::getline(text, name, ',');) names.push_back(name);
  return names;
}

std::vector<std::string> candidates(const std::string& mode, bool cigar, bool shared_query) {
  std::vector<std::string> names;
  const std::string middle = cigar ? "_trace_" : "_";
  for (const std::string strategy : {"striped", "scan"}) {
    for (const std::string width : {"8", "16", "sat"}) {
      if (width == "8" && mode != "sw") continue;
      std::string name = mode;
      name += middle + strategy + "_" + width;
      names.push_back(name);
      if (shared_query) names.push_back(mode + middle + strategy + "_profile_" + width);
    }
  }
  return names;
}

void run(int argc, char** argv) {
  const Input input = read_pairs(argv[1]);
  const std::string mode = argv[2], matrix_name = argv[4];
  Options options;
  options.mode = mode == "nw" ? Mode::global : mode == "sg" ? Mode::semiglobal : Mode::local;
  options.free_ends = {true, true, true, true};
  options.output = std::string(argv[3]) == "cigar" ? Output::cigar : Output::score;
  const int open = std::stoi(argv[5]), extend = std::stoi(argv[6]);
  const int n_threads = std::stoi(argv[7]), repeats = std::stoi(argv[8]);
  const parasail_matrix_t* matrix = nullptr;
  if (matrix_name == "blosum62") {
    options.scoring = blosum62_scoring(open, extend);
    matrix = parasail_matrix_lookup("blosum62");
  } else {
    const int match = std::stoi(matrix_name);
    const int mismatch = std::stoi(matrix_name.substr(matrix_name.find(',') + 1));
    options.scoring = dna_scoring(match, mismatch, open, extend);
    matrix = parasail_matrix_create("ACGT", match, mismatch);
  }
  const Encoded queries(input.queries, options.scoring), targets(input.targets, options.scoring);
  const Work work{queries.view(), targets.view(), input.pairs};
  const auto cells = static_cast<double>(count_cells(work));

  std::unique_ptr<GpuAligner> gpu;
  if (std::string(argv[9]) == "gpu") gpu = make_gpu_aligner(0, options, 0);
  double on_device = 0;  // the least of a run
  const auto align = [&] {
    const double before = gpu ? gpu->device_seconds() : 0;
    Alignments all = gpu ? gpu->align(work) : align_cpu(work, options, n_threads);
    const double seconds = (gpu ? gpu->device_seconds() : 0) - before;
    on_device = on_device == 0 ? seconds : std::min(on_device, seconds);
    return all;
  };
  const std::vector<Alignment> want = align().rows;
  const double ours = best_of(repeats, [&] { align(); });
  const std::size_t first =
      argc > 10 ? std::min<std::size_t>(std::stoull(argv[10]), want.size()) : want.size();
  if (first == 0) throw std::runtime_error("no pairs for Parasail");
  Parasail parasail(input, options, matrix, n_threads, first);
  std::string best_name, others;
  double best = 0;
  const bool shared_query = input.queries.size() < want.size();
  for (const std::string& name :
       argc > 11 ? split(argv[11])
                 : candidates(mode, options.output == Output::cigar, shared_query)) {
    if (!parasail.run(name, want)) {
      // A narrow function that saturates is no competitor; one that cannot is an error.
      if (name.ends_with("_sat"))
        throw std::runtime_error("scores differ from those of Parasail's " + name);
      continue;
    }
    const double seconds = best_of(repeats, [&] { parasail.run(name, want); });
    others += fmt::format("{}\"{}\": {:.4f}", others.empty() ? "" : ", ", name, seconds);
    if (best_name.empty() || seconds < best) {
      best = seconds;
      best_name = name;
    }
  }
  if (best_name.empty())
    throw std::runtime_error("scores differ from those of all of Parasail's functions");
  const Work theirs{queries.view(), targets.view(), std::span(input.pairs).first(first)};
  const auto their_cells = static_cast<double>(count_cells(theirs));
  const double ratio = best / their_cells * cells / ours;
  const std::string device = gpu ? fmt::format("\"biogpu_device_s\": {:.5f}, ", on_device) : "";
  fmt::print(
      "{{\"device\": \"{}\", \"mode\": \"{}\", \"output\": \"{}\", \"matrix\": \"{}\", "
      "\"threads\": {}, \"pairs\": {}, \"cells\": {:.0f}, \"biogpu_s\": {:.4f}, \"biogpu_gcups\": "
      "{:.2f}, "
      "\"parasail_best\": \"{}\", \"parasail_s\": {:.4f}, \"parasail_gcups\": {:.2f}, "
      "\"ratio\": {:.2f}, {}\"parasail_pairs\": {}, \"parasail_all_s\": {{{}}}}}\n",
      gpu ? "gpu" : "cpu " + biogpu::cpu_isa(), mode, argv[3], matrix_name, n_threads,
      input.pairs.size(), cells, ours, cells / ours * 1e-9, best_name, best,
      their_cells / best * 1e-9, ratio, device, first, others);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 10 || argc > 12) {
    std::fputs(
        "usage: parasail_driver PAIRS MODE OUTPUT MATRIX OPEN EXTEND THREADS REPEATS "
        "DEVICE [FIRST [FUNCTIONS]]\n",
        stderr);
    return 2;
  }
  try {
    run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "parasail_driver: %s\n", error.what());
    return 1;
  }
  return 0;
}
