#pragma once

#include <string>
#include <vector>

#include "lib/core/cpu_isa.hpp"
#include "lib/core/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/align/random_pairs.hpp"

namespace biogpu::align::test {

// The instruction sets that this machine can be made to use.
inline std::vector<std::string> isas() {
  std::vector<std::string> usable;
  for (const char* name : {"sse4", "avx2", "avx3", "avx3_dl"}) {
    try {
      force_cpu_isa(name);
      usable.push_back(name);
    } catch (const Error&) {
    }
  }
  force_cpu_isa("");
  return usable;
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

// Every output class, instruction set and thread count gives what the reference gives.
inline void compare(const Pairs& pairs, Options options) {
  for (const Output output : {Output::score, Output::ends, Output::statistics, Output::cigar}) {
    options.output = output;
    const Alignments want = align_ref(pairs.work(), options);
    for (const std::string& isa : isas()) {
      force_cpu_isa(isa);
      for (const int n_threads : {1, 2}) {
        const Alignments got = align_cpu(pairs.work(), options, n_threads);
        REQUIRE(got.rows.size() == want.rows.size());
        for (std::size_t i = 0; i < pairs.size(); ++i) {
          INFO(isa << " mode " << static_cast<int>(options.mode) << " output "
                   << static_cast<int>(output) << " pair " << i << ' ' << pairs.query(i) << ' '
                   << pairs.target(i));
          check_row(got, want, i);
        }
        REQUIRE(got.cigar == want.cigar);
      }
    }
    force_cpu_isa("");
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
