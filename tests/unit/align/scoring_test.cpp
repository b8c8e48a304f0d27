#include <string>

#include "lib/align/scoring/scoring.hpp"
#include "lib/core/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/align/random_pairs.hpp"

using namespace biogpu;
using namespace biogpu::align;

namespace {
int score_of(const Scoring& s, char query, char target) {
  return s.score[s.class_of[static_cast<unsigned char>(query)]]
                [s.class_of[static_cast<unsigned char>(target)]];
}
}  // namespace

TEST_CASE("align.scoring: DNA is case-insensitive and other bytes score 0", "[align]") {
  const Scoring s = dna_scoring(2, -3, 5, 2);
  CHECK(score_of(s, 'a', 'A') == 2);
  CHECK(score_of(s, 'A', 't') == -3);
  CHECK(score_of(s, 'N', 'N') == 0);
  CHECK(score_of(s, 'U', 'T') == 0);
  CHECK(score_of(s, 'A', '-') == 0);
  CHECK(s.max_score() == 2);
  CHECK(s.min_score() == -3);
}

TEST_CASE("align.scoring: BLOSUM62 has the published values and is symmetric", "[align]") {
  const Scoring s = blosum62_scoring(11, 1);
  CHECK(score_of(s, 'W', 'w') == 11);
  CHECK(score_of(s, 'E', 'Z') == 4);
  CHECK(score_of(s, 'J', 'O') == 1);
  CHECK(score_of(s, 'U', 'A') == -4);
  CHECK(s.max_score() == 11);
  CHECK(s.min_score() == -4);
  for (int q = 0; q < s.n_classes; ++q)
    for (int t = 0; t < q; ++t) CHECK(s.score[q][t] == s.score[t][q]);
}

TEST_CASE("align.scoring: costs below 0 and scores beyond a byte are refused", "[align]") {
  CHECK_THROWS_AS(dna_scoring(1, -1, -1, 1), Error);
  CHECK_THROWS_AS(blosum62_scoring(1, -1), Error);
  CHECK_THROWS_AS(dna_scoring(200, -1, 1, 1), Error);
  CHECK(parasail_gap_open(11, 1) == 12);
}

TEST_CASE("align.align_ref: pairs with an empty sequence are one gap", "[align]") {
  Options options;
  options.scoring = dna_scoring(2, -3, 5, 2);
  test::Pairs pairs(options.scoring);
  pairs.add("", "ACG");
  pairs.add("ACGT", "");
  pairs.add("", "");
  const auto scores = [&] {
    const Alignments got = align_ref(pairs.work(), options);
    return std::vector{got.rows[0].score, got.rows[1].score, got.rows[2].score};
  };
  options.mode = Mode::local;
  CHECK(scores() == std::vector{0, 0, 0});
  options.mode = Mode::semiglobal;
  options.free_ends = {true, false, false, false};
  CHECK(scores() == std::vector{-9, 0, 0});
  options.mode = Mode::global;
  CHECK(scores() == std::vector{-9, -11, 0});
  const Alignments got = align_ref(pairs.work(), options);
  CHECK(got.cigar == std::vector<std::uint32_t>{3 << 4 | kCigarDeletion, 4 << 4 | kCigarInsertion});
  CHECK(got.rows[0].query_begin == got.rows[0].query_end + 1);
  for (std::size_t i = 0; i < 3; ++i) {
    const Alignment& row = got.rows[i];
    CHECK(rescore(pairs.work(), options, pairs.pair(i), row,
                  {got.cigar.data() + row.cigar_begin, row.n_cigar}) == row.score);
  }
}

TEST_CASE("align.rescore: refuses a path that is not one of the pair", "[align]") {
  Options options;
  options.mode = Mode::global;
  options.scoring = dna_scoring(2, -3, 5, 2);
  test::Pairs pairs(options.scoring);
  pairs.add("ACGT", "ACGA");
  const Alignment row{.score = 3, .query_end = 3, .target_end = 3, .n_cigar = 2};
  const auto rescored = [&](std::vector<std::uint32_t> cigar) {
    return rescore(pairs.work(), options, pairs.pair(0), row, cigar);
  };
  CHECK(rescored({3 << 4 | kCigarEqual, 1 << 4 | kCigarMismatch}) == 3);
  CHECK_THROWS_AS(rescored({4 << 4 | kCigarEqual}), Error);
  CHECK_THROWS_AS(rescored({3 << 4 | kCigarEqual}), Error);
  CHECK_THROWS_AS(rescored({5 << 4 | kCigarMismatch}), Error);
  CHECK_THROWS_AS(rescored({0 << 4 | kCigarMismatch}), Error);
}

TEST_CASE("align.align_ref: scores that could leave 32 bits are refused", "[align]") {
  Options options;
  options.scoring = dna_scoring(2, -3, 1 << 29, 1 << 29);
  test::Pairs pairs(options.scoring);
  pairs.add("ACGT", "ACGA");
  CHECK_THROWS_AS(align_ref(pairs.work(), options), Error);
}

TEST_CASE("align.scoring: fractions become whole by the smallest factor", "[align]") {
  const auto by = [](const char* factor) {
    return "; multiply all scores and gap costs by " + std::string(factor);
  };
  CHECK(how_to_scale("0.5") == by("2"));
  CHECK(how_to_scale("-.125") == by("8"));
  CHECK(how_to_scale("+3.40") == by("5"));
  CHECK(how_to_scale("1.333") == by("1000"));
  CHECK(how_to_scale("4.") == "; leave out the decimals");
  CHECK(how_to_scale("4.000") == "; leave out the decimals");
  for (const char* other : {"", "7", "-", ".", "1e3", "1.5x", "x.5", "0.1234567", "--1.5"})
    CHECK(how_to_scale(other).empty());
}
