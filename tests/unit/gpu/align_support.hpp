#pragma once

#include <random>
#include <string>
#include <vector>

#include "lib/align/align.hpp"
#include "tests/unit/gpu/gpu_support.hpp"

namespace biogpu::test {

// Sequences and pairs that own their memory.
class WorkBuilder {
 public:
  void add_query(const std::vector<std::uint8_t>& residues) { add(queries_, residues); }
  void add_target(const std::vector<std::uint8_t>& residues) { add(targets_, residues); }
  void add_pair(std::uint32_t query, std::uint32_t target) { pairs_.push_back({query, target}); }
  // One more of each, paired.
  void add(const std::vector<std::uint8_t>& query, const std::vector<std::uint8_t>& target) {
    add_pair(static_cast<std::uint32_t>(queries_.begin.size() - 1),
             static_cast<std::uint32_t>(targets_.begin.size() - 1));
    add_query(query);
    add_target(target);
  }
  align::Work work() const {
    return {{queries_.residues, queries_.begin}, {targets_.residues, targets_.begin}, pairs_};
  }

 private:
  struct Sequences {
    std::vector<std::uint8_t> residues;
    std::vector<std::uint64_t> begin{0};
  };
  static void add(Sequences& to, const std::vector<std::uint8_t>& residues) {
    to.residues.insert(to.residues.end(), residues.begin(), residues.end());
    to.begin.push_back(to.residues.size());
  }
  Sequences queries_, targets_;
  std::vector<align::Pair> pairs_;
};

inline std::vector<std::uint8_t> random_residues(std::mt19937& random, std::size_t length,
                                                 int n_classes) {
  std::uniform_int_distribution<int> residue(0, n_classes - 1);
  std::vector<std::uint8_t> residues(length);
  for (auto& r : residues) r = static_cast<std::uint8_t>(residue(random));
  return residues;
}

// A copy with about one change in `every` residues: substitutions, insertions and deletions.
inline std::vector<std::uint8_t> mutated(std::mt19937& random,
                                         const std::vector<std::uint8_t>& from, int n_classes,
                                         int every) {
  std::uniform_int_distribution<int> event(0, 3 * every - 1);
  std::uniform_int_distribution<int> residue(0, n_classes - 1);
  std::vector<std::uint8_t> to;
  for (const std::uint8_t r : from) {
    const int what = event(random);
    if (what != 1) to.push_back(what == 0 ? static_cast<std::uint8_t>(residue(random)) : r);
    if (what == 2) to.push_back(static_cast<std::uint8_t>(residue(random)));
  }
  return to;
}

// global, local, all four free ends, and each end that differs in how it is found.
inline std::vector<align::Options> all_modes(const align::Scoring& scoring) {
  std::vector<align::Options> all;
  for (const auto mode : {align::Mode::global, align::Mode::local}) {
    all.push_back({mode, {}, align::Output::cigar, scoring});
  }
  for (int ends = 1; ends < 16; ++ends) {
    align::Options options{align::Mode::semiglobal, {}, align::Output::cigar, scoring};
    options.free_ends.query_begin = (ends & 1) != 0;
    options.free_ends.query_end = (ends & 2) != 0;
    options.free_ends.target_begin = (ends & 4) != 0;
    options.free_ends.target_end = (ends & 8) != 0;
    all.push_back(options);
  }
  return all;
}

// A query of four letters beside a changed copy of itself and beside another sequence.
inline void add_similar_and_other(WorkBuilder& builder, std::mt19937& random, std::size_t length,
                                  std::size_t length_of_other) {
  const auto query = random_residues(random, length, 4);
  builder.add(query, mutated(random, query, 4, 10));
  builder.add(query, random_residues(random, length_of_other, 4));
}

inline std::string describe(const align::Options& options) {
  const auto& ends = options.free_ends;
  return "mode " + std::to_string(static_cast<int>(options.mode)) + ", free ends " +
         std::to_string(ends.query_begin) + std::to_string(ends.query_end) +
         std::to_string(ends.target_begin) + std::to_string(ends.target_end) + ", output " +
         std::to_string(static_cast<int>(options.output)) + ", gap " +
         std::to_string(options.scoring.gap_open) + "/" +
         std::to_string(options.scoring.gap_extend) + ", classes " +
         std::to_string(options.scoring.n_classes);
}

inline std::string row_text(const align::Alignments& all, std::size_t i) {
  const align::Alignment& row = all.rows[i];
  std::string text = std::to_string(row.score) + " q " + std::to_string(row.query_begin) + "-" +
                     std::to_string(row.query_end) + " t " + std::to_string(row.target_begin) +
                     "-" + std::to_string(row.target_end) + " of " + std::to_string(row.matches) +
                     "/" + std::to_string(row.similar) + "/" + std::to_string(row.length) + " ";
  for (std::uint32_t k = 0; k < row.n_cigar; ++k) {
    const std::uint32_t run = all.cigar[row.cigar_begin + k];
    text += std::to_string(run >> 4) + "MIDNSHP=X"[run & 15];
  }
  return text;
}

// Every row of both, named by its lengths where it differs.
inline void check_equal(const align::Work& work, const align::Options& options,
                        const align::Alignments& got, const align::Alignments& expected) {
  REQUIRE(got.rows.size() == expected.rows.size());
  for (std::size_t i = 0; i < got.rows.size(); ++i) {
    const std::string a = row_text(got, i);
    const std::string b = row_text(expected, i);
    if (a == b) continue;
    FAIL_CHECK("pair " << i << " of " << work.queries.length(work.pairs[i].query) << " x "
                       << work.targets.length(work.pairs[i].target) << ", " << describe(options)
                       << ": got " << a << ", expected " << b);
  }
  CHECK(got.cigar == expected.cigar);
}

}  // namespace biogpu::test
