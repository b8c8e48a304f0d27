// What the SIMD backend alone has: lanes of 8 and 16 bits, long pairs in blocks. On every
// instruction set of this machine.
#include <array>

#include "lib/align/cpu/long/long_pair.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/align/compare.hpp"

using namespace biogpu;
using namespace biogpu::align;
using namespace biogpu::align::test;

TEST_CASE("align.align_cpu: scores at the limits of 8 and 16 bits are exact", "[align]") {
  Options options;
  options.mode = GENERATE(Mode::local, Mode::global);
  options.scoring = blosum62_scoring(11, 1);
  Pairs pairs(options.scoring);
  // W against W scores 11, A and C add the remainder: 253, 254, 255, 256 and more in each lane.
  for (const std::size_t n : {11, 12, 22, 23, 24})
    for (const std::string tail : {"", "A", "R", "C", "AC", "H", "P"})
      pairs.add(std::string(n, 'W') + tail, std::string(n, 'W') + tail);
  compare(pairs, options);

  Pairs wide(options.scoring);
  const std::size_t limit = options.mode == Mode::local ? 65535 / 11 : 32767 / 11;
  for (std::size_t k = 0; k < 8; ++k) {
    const std::string text(limit - 2 + k / 2, 'W');
    wide.add(text + (k % 2 ? "P" : ""), text + (k % 2 ? "P" : ""));
  }
  options.output = Output::ends;
  const Alignments got = align_cpu(wide.work(), options, 1);
  for (std::size_t k = 0; k < 8; ++k)
    CHECK(got.rows[k].score == static_cast<int>(11 * (limit - 2 + k / 2) + (k % 2 ? 7 : 0)));
}

TEST_CASE("align.align_cpu: local scores past the range of 8 bits equal the reference",
          "[align][property]") {
  Options options;
  options.mode = Mode::local;
  options.scoring = GENERATE(dna_scoring(2, -3, 5, 2), dna_scoring(1, -1, 1, 1),
                             dna_scoring(5, -4, 10, 1), blosum62_scoring(11, 1));
  const bool dna = options.scoring.n_classes == 5;
  const std::string_view letters = dna ? kDna : kProtein;
  std::mt19937 random(9);
  Pairs pairs(options.scoring);
  for (int k = 0; k < 130; ++k) {
    // Two related stretches of about equal worth, the lesser first or last, make the raised floor
    // cut into a path that could have been the best.
    const std::string a = random_text(random, letters, 20 + random() % 120);
    const std::string b = random_text(random, letters, 20 + random() % 120);
    const std::string gap = random_text(random, letters, random() % 200);
    const unsigned percent = random() % 25;
    pairs.add(k % 3 == 0 ? a + b : a + gap + b,
              k % 2 == 0
                  ? mutate(random, letters, a, percent) + mutate(random, letters, b, percent)
                  : mutate(random, letters, b, percent) + mutate(random, letters, a, percent));
  }
  compare(pairs, options);
}

TEST_CASE("align.align_cpu: local scores of which few columns use 8 bits up equal the reference",
          "[align][property]") {
  Options options;
  options.mode = Mode::local;
  for (const auto& [match, mismatch, open, extend] :
       std::vector<std::array<int, 4>>{{20, -20, 25, 2}, {15, -40, 50, 4}, {10, -60, 50, 4}}) {
    options.scoring = dna_scoring(match, mismatch, open, extend);
    std::mt19937 random(14);
    const std::string text = random_text(random, kDna, 280);
    Pairs pairs(options.scoring);
    for (std::size_t length = 20; length < text.size(); length += 3)
      pairs.add(text.substr(0, length), text.substr(0, length));
    compare(pairs, options);
  }
}

TEST_CASE("align.align_cpu: single pairs with cheap gaps equal the reference",
          "[align][property]") {
  Options options = GENERATE(from_range(all_modes()));
  // Too few pairs for a group: the 32-bit kernel. Gaps cost less than mismatches, on the border
  // too.
  for (const auto& [match, mismatch, open, extend] : std::vector<std::array<int, 4>>{
           {2, -9, 3, 1}, {1, -3, 1, 1}, {5, -9, 2, 0}, {1, -4, 1, 3}}) {
    options.scoring = dna_scoring(match, mismatch, open, extend);
    for (unsigned seed = 20; seed < 24; ++seed)
      compare(random_pairs(options.scoring, kDna, 2, 1, 60, seed), options);
  }
}

TEST_CASE("align.align_cpu: long pairs keep the path of the full matrix", "[align][property]") {
  Options options = GENERATE(from_range(all_modes()));
  const bool dna = GENERATE(true, false);
  options.scoring = dna ? dna_scoring(2, -3, 5, 2) : blosum62_scoring(11, 1);
  // Two pairs are too few for a group: they take the 32-bit kernel, and 700 rows three checkpoints.
  std::mt19937 random(8);
  Pairs pairs(options.scoring);
  const std::string text = random_text(random, dna ? kDna : kProtein, 700);
  pairs.add(text, mutate(random, dna ? kDna : kProtein, text, 15));
  pairs.add(random_text(random, dna ? kDna : kProtein, 600), text.substr(100, 350));
  compare(pairs, options);
}

TEST_CASE("align.align_cpu: a target of half a million residues keeps its path", "[align]") {
  Options options;
  options.mode = GENERATE(Mode::local, Mode::semiglobal);
  options.free_ends = {false, false, true, true};
  options.scoring = dna_scoring(2, -3, 5, 2);
  std::mt19937 random(10);
  Pairs pairs(options.scoring);
  // Blocks of 320 rows and some 2,700 columns.
  const std::string query = random_text(random, kDna, 5000);
  pairs.add(query, random_text(random, kDna, 445000) + mutate(random, kDna, query, 10));
  options.output = Output::score;
  const Alignments scored = align_cpu(pairs.work(), options, 1);
  options.output = Output::cigar;
  const Alignments got = align_cpu(pairs.work(), options, 1);
  const Alignment& row = got.rows[0];
  CHECK(row.score == scored.rows[0].score);
  CHECK(row.target_begin > 440000);
  CHECK(rescore(pairs.work(), options, pairs.pair(0), row, got.cigar) == row.score);
}

TEST_CASE("align.align_long_pair: blocks with checkpoints of their own keep the path",
          "[align][property]") {
  Options options;
  options.scoring = dna_scoring(2, -3, 5, 2);
  options.output = Output::cigar;
  std::mt19937 random(11);
  Pairs pairs(options.scoring);
  const std::string text = random_text(random, kDna, 4200);
  pairs.add(text, mutate(random, kDna, text.substr(2000, 700), 10));
  const Work work = pairs.work();
  const PairScores scores(options.scoring);
  Scratch scratch;
  for (const Mode mode : {Mode::local, Mode::global, Mode::semiglobal}) {
    options.mode = mode;
    options.free_ends = {true, true, false, false};
    const Alignments want = align_ref(work, options);
    // All columns, some, and none fit.
    for (const std::int64_t checkpoint_bytes : {1 << 28, 8 * 4300, 0}) {
      Alignments got;
      got.rows.push_back(align_long_pair(options, scores, work.queries.sequence(0),
                                         work.targets.sequence(0), scratch, got.cigar,
                                         {4096, checkpoint_bytes}));
      check_row(got, want, 0);
      CHECK(got.cigar == want.cigar);
    }
  }
}
