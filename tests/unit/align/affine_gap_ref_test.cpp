// The reference against Parasail: scores, ends and paths of random pairs in every mode.
#include <tuple>

#include "tests/support/catch.hpp"
#include "tests/unit/align/parasail_oracle.hpp"
#include "tests/unit/align/random_pairs.hpp"

using namespace biogpu;
using namespace biogpu::align;
using namespace biogpu::align::test;

namespace {

// Compares `n` random pairs; stops at the first difference with the pair in the message.
void compare(Options options, bool dna, int match, int mismatch, std::size_t n,
             std::size_t max_length, unsigned seed) {
  options.output = Output::cigar;
  const Pairs pairs = random_pairs(options.scoring, dna ? kDna : kProtein, n, 1, max_length, seed);
  const Oracle oracle(options, dna, match, mismatch);
  const Alignments got = align_ref(pairs.work(), options);
  REQUIRE(got.rows.size() == pairs.size());
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const OracleAlignment want = oracle.align(pairs.query(i), pairs.target(i));
    const Alignment& row = got.rows[i];
    INFO(parasail_mode(options) << " open " << options.scoring.gap_open << " extend "
                                << options.scoring.gap_extend << ' ' << pairs.query(i) << ' '
                                << pairs.target(i));
    REQUIRE(row.score == want.score);
    REQUIRE(row.query_end == want.query_end);
    REQUIRE(row.target_end == want.target_end);
    REQUIRE(row.matches == want.matches);
    REQUIRE(row.similar == want.similar);
    REQUIRE(row.length == want.length);
    const std::span cigar(got.cigar.data() + row.cigar_begin, row.n_cigar);
    REQUIRE(std::vector(cigar.begin(), cigar.end()) == want.cigar);
    REQUIRE(rescore(pairs.work(), options, pairs.pair(i), row, cigar) == row.score);
  }
}

Options options_of(const std::string& mode, const Scoring& scoring) {
  Options options;
  options.scoring = scoring;
  options.mode = mode == "nw" ? Mode::global : mode == "sw" ? Mode::local : Mode::semiglobal;
  options.free_ends = {true, true, true, true};
  return options;
}

}  // namespace

TEST_CASE("align.align_ref: equals Parasail on 10000 DNA pairs of each mode", "[align][property]") {
  const std::string mode = GENERATE("nw", "sg", "sw");
  compare(options_of(mode, dna_scoring(2, -3, 5, 2)), true, 2, -3, 9000, 120, 1);
  compare(options_of(mode, dna_scoring(2, -3, 5, 2)), true, 2, -3, 990, 300, 2);
  compare(options_of(mode, dna_scoring(2, -3, 5, 2)), true, 2, -3, 10, 1500, 3);
}

TEST_CASE("align.align_ref: equals Parasail on 10000 protein pairs of each mode",
          "[align][property]") {
  const std::string mode = GENERATE("nw", "sg", "sw");
  compare(options_of(mode, blosum62_scoring(11, 1)), false, 0, 0, 9000, 120, 4);
  compare(options_of(mode, blosum62_scoring(11, 1)), false, 0, 0, 990, 300, 5);
  compare(options_of(mode, blosum62_scoring(11, 1)), false, 0, 0, 10, 1500, 6);
}

TEST_CASE("align.align_ref: equals Parasail for every set of free ends", "[align][property]") {
  // Bits: query begin, query end, target begin, target end. Parasail has no functions for the four
  // sets with three free ends.
  const unsigned bits = GENERATE(1u, 2u, 3u, 4u, 5u, 6u, 8u, 9u, 10u, 12u, 15u);
  Options options;
  options.mode = Mode::semiglobal;
  options.free_ends = {(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0, (bits & 8) != 0};
  options.scoring = dna_scoring(2, -3, 5, 2);
  compare(options, true, 2, -3, 400, 60, 10 + bits);
  options.scoring = dna_scoring(1, -1, 1, 1);
  compare(options, true, 1, -1, 400, 30, 30 + bits);
  options.scoring = blosum62_scoring(11, 1);
  compare(options, false, 0, 0, 300, 60, 50 + bits);
}

TEST_CASE("align.align_ref: equals Parasail for unusual costs", "[align][property]") {
  const std::string mode = GENERATE("nw", "sg", "sw");
  const auto [match, mismatch, open, extend] = GENERATE(table<int, int, int, int>(
      {{1, -1, 1, 3}, {2, -3, 0, 0}, {1, 0, 2, 0}, {1, -2, 0, 1}, {5, -4, 10, 10}, {0, -1, 2, 1}}));
  compare(options_of(mode, dna_scoring(match, mismatch, open, extend)), true, match, mismatch, 600,
          50, 70);
}

TEST_CASE("align.align_ref: equals Parasail's banded global alignment", "[align][property]") {
  Options options = options_of("nw", dna_scoring(2, -3, 5, 2));
  options.band = GENERATE(1, 2, 5, 20, 1000);
  options.output = Output::cigar;
  const Pairs pairs = random_pairs(options.scoring, kDna, 400, 1, 80, 80);
  const Oracle oracle(options, true, 2, -3);
  const Alignments got = align_ref(pairs.work(), options);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    INFO(options.band << ' ' << pairs.query(i) << ' ' << pairs.target(i));
    const Alignment& row = got.rows[i];
    REQUIRE(row.score ==
            oracle.banded_score(pairs.query(i), pairs.target(i), static_cast<int>(options.band)));
    const std::span cigar(got.cigar.data() + row.cigar_begin, row.n_cigar);
    REQUIRE(rescore(pairs.work(), options, pairs.pair(i), row, cigar) == row.score);
  }
}

TEST_CASE("align.align_ref: counts letters outside the alphabet as Parasail does",
          "[align][property]") {
  Options options = options_of("nw", dna_scoring(2, -3, 5, 2));
  options.output = Output::statistics;
  Pairs pairs(options.scoring);
  pairs.add("ACGNN", "ACGNN");
  pairs.add("ACGUT", "ACGNT");
  const Alignments got = align_ref(pairs.work(), options);
  CHECK(got.rows[0].matches == 5);
  CHECK(got.rows[0].similar == 3);
  CHECK(got.rows[0].length == 5);
  CHECK(got.rows[1].matches == 5);
  CHECK(got.rows[1].similar == 4);
  CHECK(got.cigar.empty());
  const Oracle oracle(options, true, 2, -3);
  const OracleAlignment want = oracle.align("ACGUT", "ACGNT");
  CHECK(want.matches == 5);
  CHECK(want.similar == 4);
}
