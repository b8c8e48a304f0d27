#pragma once

// What tests of alignment share: the devices under test, and comparisons with the reference.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "lib/align/search.hpp"
#include "lib/core/cpu_isa.hpp"
#include "lib/core/device.hpp"
#include "lib/core/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/align/random_pairs.hpp"

namespace biogpu::align::test {

// The CPU with one instruction set and number of threads, or the first GPU.
struct Subject {
  std::string name;
  bool gpu = false;
  int n_threads = 1;
};

// The instruction sets that this machine can be made to use; its own, "", where none of these is.
inline std::vector<std::string> isas() {
  std::vector<std::string> usable;
  for (const char* name : {"sse4", "avx2", "avx3", "avx3_dl", "neon"}) {
    try {
      force_cpu_isa(name);
      usable.emplace_back(name);
    } catch (const Error&) {
    }
  }
  force_cpu_isa("");
  if (usable.empty()) usable.emplace_back();
  return usable;
}

// All of this build and machine; BIOGPU_TEST_CONTEXTS, cpu or gpu, leaves some out.
inline std::vector<Subject> subjects() {
  const char* const only = std::getenv("BIOGPU_TEST_CONTEXTS");
  const std::string wanted = only == nullptr ? "" : only;
  std::vector<Subject> all;
  if (wanted != "gpu")
    for (const std::string& isa : isas())
      for (const int n_threads : {1, 3}) all.push_back({isa, false, n_threads});
  if (wanted == "cpu") {
    REQUIRE(!all.empty());
    return all;
  }
  std::string why;
  const std::vector<DeviceInfo> devices = list_devices(&why);
  if (!devices.empty() && devices.front().usable)
    all.push_back({"gpu", true, 1});
  else if (std::getenv("BIOGPU_REQUIRE_GPU") != nullptr)
    FAIL("no GPU: " << why);
  if (all.empty()) {
    std::printf("skipped: no GPU\n");
    std::exit(77);
  }
  return all;
}

// The number of pairs of a test: a quarter where kernels run on the host, which takes long.
inline std::size_t n_of(std::size_t n) {
  const char* const only = std::getenv("BIOGPU_TEST_CONTEXTS");
  const bool on_cpu = only != nullptr && std::string(only) == "cpu";
  return !on_cpu && gpu_backend_name() == "emulated" ? (n + 3) / 4 : n;
}

// Runs a function with the instruction set of a subject.
template <class Function>
auto with_isa(const Subject& subject, const Function& function) {
  if (subject.gpu) return function();
  force_cpu_isa(subject.name);
  auto result = function();
  force_cpu_isa("");
  return result;
}

// Whether some pair has two sequences that are not empty: the others need no device.
inline bool has_cells(const Work& work) {
  return std::any_of(work.pairs.begin(), work.pairs.end(), [&](const Pair& pair) {
    return work.queries.length(pair.query) > 0 && work.targets.length(pair.target) > 0;
  });
}

inline Alignments align_on(const Subject& subject, const Work& work, const Options& options) {
  return with_isa(subject, [&] {
    if (!subject.gpu) return align_cpu(work, options, subject.n_threads);
    const auto aligner = make_gpu_aligner(0, options, 0);
    Alignments got = aligner->align(work);
    // The CPU, to which the aligner may fall back, did not do all of it.
    if (has_cells(work)) CHECK(aligner->device_seconds() > 0);
    return got;
  });
}

inline Hits search_on(const Subject& subject, const SequenceSet& queries,
                      const SequenceSet& targets, const Options& options,
                      const SearchOptions& search) {
  return with_isa(subject, [&] {
    return subject.gpu ? make_gpu_searcher(0, targets, options, search, 0)->search(queries)
                       : search_cpu(queries, targets, options, search, subject.n_threads);
  });
}

inline void check_row(const Alignments& got, const Alignments& want, std::size_t i) {
  const Alignment &g = got.rows[i], &w = want.rows[i];
  REQUIRE(g.score == w.score);
  REQUIRE(g.query_end == w.query_end);
  REQUIRE(g.target_end == w.target_end);
  REQUIRE(g.matches == w.matches);
  REQUIRE(g.similar == w.similar);
  REQUIRE(g.length == w.length);
  REQUIRE(g.query_begin == w.query_begin);
  REQUIRE(g.target_begin == w.target_begin);
  REQUIRE(g.n_cigar == w.n_cigar);
  REQUIRE(g.cigar_begin == w.cigar_begin);
}

// Every output class on every subject gives what the reference gives.
inline void compare(const Pairs& pairs, Options options) {
  const std::vector<Subject> all = subjects();
  for (const Output output : {Output::score, Output::ends, Output::statistics, Output::cigar}) {
    options.output = output;
    const Alignments want = align_ref(pairs.work(), options);
    for (const Subject& subject : all) {
      const Alignments got = align_on(subject, pairs.work(), options);
      REQUIRE(got.rows.size() == want.rows.size());
      for (std::size_t i = 0; i < pairs.size(); ++i) {
        INFO(subject.name << " mode " << static_cast<int>(options.mode) << " output "
                          << static_cast<int>(output) << " pair " << i << ' ' << pairs.query(i)
                          << ' ' << pairs.target(i));
        check_row(got, want, i);
      }
      REQUIRE(got.cigar == want.cigar);
    }
  }
}

// The same for the hits of a search.
inline void compare_search(const Pairs& sets, const Options& options,
                           const SearchOptions& search = {.top = 20, .min_score = -200}) {
  const Work work = sets.work();
  const Hits want = search_ref(work.queries, work.targets, options, search);
  for (const Subject& subject : subjects()) {
    const Hits got = search_on(subject, work.queries, work.targets, options, search);
    INFO(subject.name << " threads " << subject.n_threads);
    CHECK(got.begin == want.begin);
    CHECK(got.rows == want.rows);
  }
}

// Local, global and semi-global with every set of free ends, with the default scoring.
inline const std::vector<Options>& all_modes() {
  static const std::vector<Options> modes = [] {
    std::vector<Options> list(2);
    list[0].mode = Mode::local;
    list[1].mode = Mode::global;
    for (unsigned bits = 1; bits < 16; ++bits) {
      Options options;
      options.mode = Mode::semiglobal;
      options.free_ends = {(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0, (bits & 8) != 0};
      list.push_back(options);
    }
    return list;
  }();
  return modes;
}

}  // namespace biogpu::align::test
