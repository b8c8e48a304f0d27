// Times the CPU aligner and Parasail's best function on the same seeded work, in one process and
// turn by turn, after their results were compared; prints one JSON object a line. CPU seconds of
// both sides count, so that other load on the machine weighs on neither. Called by align_cpu.py.
//
//   align_cpu_bench THREADS REPEATS SCALE QUERIES.fa PROTEOME.fa [NAME]
//
// SCALE multiplies the number of pairs; NAME runs the workloads whose name holds it.
#include <fmt/format.h>
#include <parasail.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <functional>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "lib/align/align.hpp"
#include "lib/align/search.hpp"
#include "lib/core/cpu_isa.hpp"

namespace {

using namespace biogpu::align;

constexpr const char* kDna = "ACGT";
constexpr const char* kProtein = "ARNDCQEGHILKMFPSTWYV";

struct Workload {
  std::string name;
  Options options;
  const parasail_matrix_t* matrix = nullptr;
  std::vector<std::string> queries, targets;
  std::vector<Pair> pairs;  // empty: every query against every target, by search_cpu()
  SearchOptions search;
  std::vector<std::string> candidates;  // Parasail's functions that could be the best
};

class Encoded {
 public:
  Encoded(const std::vector<std::string>& texts, const Scoring& scoring) {
    for (const std::string& text : texts) {
      for (const char c : text)
        residues_.push_back(scoring.class_of[static_cast<unsigned char>(c)]);
      begin_.push_back(residues_.size());
    }
  }
  SequenceSet view() const { return {residues_, begin_}; }

 private:
  std::vector<std::uint8_t> residues_;
  std::vector<std::uint64_t> begin_{0};
};

double cpu_seconds_of(const std::function<void()>& work) {
  const auto now = [] {
    timespec t{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  };
  const double start = now();
  work();
  return now() - start;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Calls job(k) for every k < n on n_threads threads.
void share(std::size_t n, int n_threads, const std::function<void(std::size_t)>& job) {
  constexpr std::size_t kChunk = 16;
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < n_threads; ++t) {
    threads.emplace_back([&] {
      for (std::size_t at = next.fetch_add(kChunk); at < n; at = next.fetch_add(kChunk))
        for (std::size_t k = at; k < std::min(at + kChunk, n); ++k) job(k);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Runs one of Parasail's functions over all pairs; a CIGAR is made where one is wanted. Returns
// false when a score differs from `want`: narrow functions saturate.
bool run_parasail(const Workload& load, const std::string& name, const std::vector<Pair>& pairs,
                  int n_threads, const std::vector<std::int32_t>& want) {
  const Scoring& s = load.options.scoring;
  parasail_function_t* function = parasail_lookup_function(name.c_str());
  parasail_pfunction_t* with_profile = parasail_lookup_pfunction(name.c_str());
  std::vector<parasail_profile_t*> profiles;
  if (with_profile != nullptr) {
    parasail_pcreator_t* create = parasail_lookup_pcreator(name.c_str());
    for (const std::string& query : load.queries)
      profiles.push_back(create(query.data(), static_cast<int>(query.size()), load.matrix));
  } else if (function == nullptr) {
    throw std::runtime_error("Parasail has no " + name);
  }
  std::atomic<bool> equal{true};
  share(pairs.size(), n_threads, [&](std::size_t p) {
    const std::string &query = load.queries[pairs[p].query],
                      &target = load.targets[pairs[p].target];
    const auto m = static_cast<int>(query.size()), n = static_cast<int>(target.size());
    parasail_result_t* result =
        with_profile != nullptr
            ? with_profile(profiles[pairs[p].query], target.data(), n, s.gap_open, s.gap_extend)
            : function(query.data(), m, target.data(), n, s.gap_open, s.gap_extend, load.matrix);
    if (std::max(parasail_result_get_score(result),
                 load.options.mode == Mode::local ? 0 : -99999) != want[p])
      equal = false;
    if (load.options.output == Output::cigar)
      parasail_cigar_free(
          parasail_result_get_cigar(result, query.data(), m, target.data(), n, load.matrix));
    parasail_result_free(result);
  });
  for (parasail_profile_t* profile : profiles) parasail_profile_free(profile);
  return equal;
}

std::vector<Pair> all_pairs(const Workload& load) {
  if (!load.pairs.empty()) return load.pairs;
  std::vector<Pair> pairs;
  for (std::uint32_t q = 0; q < load.queries.size(); ++q)
    for (std::uint32_t t = 0; t < load.targets.size(); ++t) pairs.push_back({q, t});
  return pairs;
}

// What a search keeps of the scores of all pairs.
Hits hits_of(const Workload& load, const std::vector<std::int32_t>& scores) {
  Hits hits;
  const std::size_t n_targets = load.targets.size();
  for (std::size_t query = 0; query < load.queries.size(); ++query) {
    HitPicker picker(load.search);
    for (std::uint32_t target = 0; target < n_targets; ++target)
      picker.offer({target, scores[query * n_targets + target]});
    picker.finish(hits);
  }
  return hits;
}

void run(const Workload& load, int n_threads, int repeats) {
  const Encoded queries(load.queries, load.options.scoring);
  const Encoded targets(load.targets, load.options.scoring);
  const std::vector<Pair> pairs = all_pairs(load);
  const Work work{queries.view(), targets.view(), pairs};
  std::vector<std::int32_t> want;
  for (const Alignment& row : align_cpu(work, load.options, n_threads).rows)
    want.push_back(row.score);

  const auto search = [&] {
    return search_cpu(queries.view(), targets.view(), load.options, load.search, n_threads);
  };
  if (load.pairs.empty() && search().rows != hits_of(load, want).rows)
    throw std::runtime_error(load.name + ": the hits of the search differ from those of all pairs");
  const auto ours = [&] {
    if (load.pairs.empty()) {
      search();
    } else {
      align_cpu(work, load.options, n_threads);
    }
  };
  std::string best;
  double best_seconds = 0;
  for (const std::string& name : load.candidates) {
    bool equal = false;
    const double seconds =
        cpu_seconds_of([&] { equal = run_parasail(load, name, pairs, n_threads, want); });
    if (!equal && name.ends_with("_sat"))
      throw std::runtime_error(load.name + ": scores differ from those of Parasail's " + name);
    if (equal && (best.empty() || seconds < best_seconds)) {
      best = name;
      best_seconds = seconds;
    }
  }
  std::vector<double> mine, theirs, ratios;
  for (int k = 0; k < repeats; ++k) {
    mine.push_back(cpu_seconds_of(ours));
    theirs.push_back(cpu_seconds_of([&] { run_parasail(load, best, pairs, n_threads, want); }));
    ratios.push_back(theirs.back() / mine.back());
  }
  const auto cells = static_cast<double>(count_cells(work)) * 1e-9;
  fmt::print(
      "{{\"workload\": \"{}\", \"isa\": \"{}\", \"threads\": {}, \"pairs\": {}, \"gcells\": "
      "{:.3f}, "
      "\"biogpu_cpu_s\": {:.4f}, \"biogpu_gcups_per_core\": {:.2f}, \"parasail_best\": \"{}\", "
      "\"parasail_cpu_s\": {:.4f}, \"parasail_gcups_per_core\": {:.2f}, \"ratio\": {:.2f}}}\n",
      load.name, biogpu::cpu_isa(), n_threads, pairs.size(), cells, median(mine),
      cells / median(mine), best, median(theirs), cells / median(theirs), median(ratios));
  std::fflush(stdout);
}

std::string random_text(std::mt19937& random, const char* letters, std::size_t length) {
  const std::size_t n = std::strlen(letters);
  std::string text(length, ' ');
  for (char& c : text) c = letters[random() % n];
  return text;
}

// A copy of which about `percent` of the residues are substituted, dropped or doubled.
std::string mutated(std::mt19937& random, const char* letters, const std::string& text,
                    unsigned percent) {
  std::string copy;
  for (const char c : text) {
    const unsigned draw = random() % 1000;
    if (draw >= percent * 10) {
      copy += c;
    } else if (draw < percent * 8) {
      copy += random_text(random, letters, 1);
    } else if (draw < percent * 9) {
      copy += std::string(2, c);
    }
  }
  return copy;
}

std::vector<std::string> candidates_of(const std::string& mode, bool cigar) {
  std::vector<std::string> names;
  for (const std::string strategy : {"striped", "scan"})
    for (const std::string width : {"8", "16", "sat"})
      if (width != "8" || mode == "sw")
        names.push_back(mode + (cigar ? "_trace_" : "_") + strategy + "_" + width);
  return names;
}

Workload pairs_of(const std::string& name, const std::string& mode, bool cigar, bool dna,
                  std::size_t n, std::size_t min_length, std::size_t max_length, unsigned percent) {
  Workload load;
  load.name = name + ", " + mode + (cigar ? ", cigar" : ", score");
  load.options.mode = mode == "nw" ? Mode::global : mode == "sg" ? Mode::semiglobal : Mode::local;
  load.options.free_ends = {true, true, true, true};
  load.options.output = cigar ? Output::cigar : Output::score;
  load.options.scoring = dna ? dna_scoring(2, -3, 5, 2) : blosum62_scoring(11, 1);
  load.matrix = dna ? parasail_matrix_create("ACGT", 2, -3) : parasail_matrix_lookup("blosum62");
  load.candidates = candidates_of(mode, cigar);
  std::mt19937 random(1);
  const char* letters = dna ? kDna : kProtein;
  for (std::uint32_t k = 0; k < n; ++k) {
    const std::size_t length = min_length + random() % (max_length - min_length + 1);
    load.queries.push_back(random_text(random, letters, length));
    load.targets.push_back(percent < 100 ? mutated(random, letters, load.queries.back(), percent)
                                         : random_text(random, letters, length));
    load.pairs.push_back({k, k});
  }
  return load;
}

std::vector<std::string> read_fasta(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::vector<std::string> texts;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('>')) {
      texts.emplace_back();
    } else {
      texts.back() += line;
    }
  }
  return texts;
}

// The best `top` hits of each query, or the scores of all targets.
Workload search_of(const std::string& mode, std::uint32_t top, const std::string& queries,
                   const std::string& proteome) {
  Workload load = pairs_of("20 proteins against E. coli", mode, false, false, 0, 1, 1, 0);
  load.queries = read_fasta(queries);
  load.targets = read_fasta(proteome);
  load.candidates = {mode + "_striped_profile_sat"};
  load.search.top = top;
  load.name += top > 0 ? fmt::format(", best {} of a query", top) : ", of every pair";
  return load;
}

std::vector<Workload> workloads(std::size_t scale, const std::string& queries,
                                const std::string& proteome) {
  std::vector<Workload> list;
  const std::size_t n = 10000 * scale;
  for (const std::string mode : {"sw", "sg", "nw"})
    for (const bool cigar : {false, true})
      list.push_back(pairs_of("150 bp, 5 % changed", mode, cigar, true, n, 150, 150, 5));
  for (const bool cigar : {false, true})
    list.push_back(pairs_of("150 bp, unrelated", "sw", cigar, true, n, 150, 150, 100));
  list.push_back(pairs_of("150 bp, unrelated", "nw", false, true, n, 150, 150, 100));
  for (const bool cigar : {false, true})
    list.push_back(pairs_of("20 to 400 bp, 5 % changed", "sw", cigar, true, n, 20, 400, 5));
  for (const bool cigar : {false, true})
    list.push_back(pairs_of("300 aa pairs", "sw", cigar, false, n / 8, 300, 300, 50));
  for (const std::string mode : {"sw", "nw"})
    list.push_back(pairs_of("10 kbp, 5 % changed", mode, true, true, 4 * scale, 10000, 10000, 5));
  for (const std::uint32_t top : {10, 0}) list.push_back(search_of("sw", top, queries, proteome));
  list.push_back(search_of("nw", 10, queries, proteome));
  return list;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 6) {
    std::fputs("usage: align_cpu_bench THREADS REPEATS SCALE QUERIES.fa PROTEOME.fa [NAME]\n",
               stderr);
    return 2;
  }
  try {
    for (const Workload& load : workloads(std::stoul(argv[3]), argv[4], argv[5]))
      if (argc == 6 || load.name.find(argv[6]) != std::string::npos)
        run(load, std::stoi(argv[1]), std::stoi(argv[2]));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "align_cpu_bench: %s\n", error.what());
    return 1;
  }
  return 0;
}
