// Bands and X-drop: every device against the reference, and the reference against what their
// definitions imply.
#include "tests/support/catch.hpp"
#include "tests/unit/align/compare.hpp"

using namespace biogpu;
using namespace biogpu::align;
using namespace biogpu::align::test;

namespace {

std::vector<std::int32_t> scores_of(const Pairs& pairs, Options options) {
  options.output = Output::score;
  std::vector<std::int32_t> scores;
  for (const Alignment& row : align_ref(pairs.work(), options).rows) scores.push_back(row.score);
  return scores;
}

// The best global score over all pairs of prefixes, 0 included.
std::int32_t best_prefixes(const Scoring& scoring, const std::string& query,
                           const std::string& target) {
  Options options;
  options.mode = Mode::global;
  options.scoring = scoring;
  Pairs prefixes(scoring);
  for (std::size_t m = 1; m <= query.size(); ++m)
    for (std::size_t n = 1; n <= target.size(); ++n)
      prefixes.add(query.substr(0, m), target.substr(0, n));
  std::int32_t best = 0;
  for (const std::int32_t score : scores_of(prefixes, options)) best = std::max(best, score);
  return best;
}

}  // namespace

TEST_CASE("align.banded: equals the reference in every mode", "[align][property]") {
  Options options = GENERATE(from_range(all_modes()));
  options.band = GENERATE(0, 1, 7, 40, 100000);
  options.scoring = dna_scoring(2, -3, 5, 2);
  compare(random_pairs(options.scoring, "ACGTN", n_of(60), 0, 90, 1), options);
  options.scoring = blosum62_scoring(11, 1);
  compare(random_pairs(options.scoring, kProtein, n_of(40), 0, 90, 2), options);
}

TEST_CASE("align.banded: as wide as the matrix changes nothing", "[align]") {
  Options options = GENERATE(from_range(all_modes()));
  options.scoring = dna_scoring(2, -3, 5, 2);
  const Pairs pairs = random_pairs(options.scoring, kDna, 60, 0, 60, 3);
  const std::vector<std::int32_t> unbanded = scores_of(pairs, options);
  options.band = 60;
  CHECK(scores_of(pairs, options) == unbanded);
}

TEST_CASE("align.xdrop: equals the reference", "[align][property]") {
  Options options;
  options.mode = Mode::local;
  options.xdrop = GENERATE(0, 1, 5, 20, 100, 2000000000);
  options.band = GENERATE(kNoBand, std::int64_t{0}, std::int64_t{9});
  // The last costs open < extend.
  for (const Scoring& scoring :
       {dna_scoring(2, -3, 5, 2), dna_scoring(2, -1, 0, 0), dna_scoring(1, -2, 1, 3)}) {
    options.scoring = scoring;
    compare(random_pairs(options.scoring, "ACGTN", n_of(60), 0, 90, 4), options);
  }
  options.scoring = blosum62_scoring(11, 1);
  compare(random_pairs(options.scoring, kProtein, n_of(40), 0, 90, 5), options);
}

TEST_CASE("align.xdrop: without a drop it is the best global alignment of two prefixes",
          "[align]") {
  Options options;
  options.mode = Mode::local;
  options.xdrop = 1000000;
  options.scoring = dna_scoring(2, -3, 5, 2);
  const Pairs pairs = random_pairs(options.scoring, kDna, 20, 1, 16, 6);
  const std::vector<std::int32_t> scores = scores_of(pairs, options);
  for (std::size_t i = 0; i < pairs.size(); ++i)
    CHECK(scores[i] == best_prefixes(options.scoring, pairs.query(i), pairs.target(i)));
}

TEST_CASE("align.xdrop: stops where the score has dropped", "[align]") {
  Options options;
  options.mode = Mode::local;
  options.scoring = dna_scoring(1, -1, 2, 2);
  Pairs pairs(options.scoring);
  pairs.add("AAAACCCCAAAAAAAAAA", "AAAAGGGGAAAAAAAAAA");
  options.xdrop = 3;
  CHECK(scores_of(pairs, options) == std::vector{4});
  options.xdrop = 4;
  CHECK(scores_of(pairs, options) == std::vector{10});
}

TEST_CASE("align.xdrop: is an error outside local mode", "[align]") {
  Options options;
  options.mode = Mode::global;
  options.xdrop = 10;
  options.scoring = dna_scoring(2, -3, 5, 2);
  Pairs pairs(options.scoring);
  pairs.add("ACGT", "ACGT");
  CHECK_THROWS_AS(align_ref(pairs.work(), options), Error);
  CHECK_THROWS_AS(align_cpu(pairs.work(), options, 1), Error);
}
