// Alignment on every device against the reference: the CPU with each instruction set, the GPU.
#include <array>

#include "tests/support/catch.hpp"
#include "tests/unit/align/compare.hpp"

using namespace biogpu;
using namespace biogpu::align;
using namespace biogpu::align::test;

TEST_CASE("align.align: DNA of any length equals the reference in every mode",
          "[align][property]") {
  Options options = GENERATE(from_range(all_modes()));
  options.scoring = dna_scoring(2, -3, 5, 2);
  compare(random_pairs(options.scoring, "ACGTN", n_of(150), 0, 30, 1), options);
  compare(random_pairs(options.scoring, kDna, n_of(150), 1, 120, 2), options);
}

TEST_CASE("align.align: proteins equal the reference in every mode", "[align][property]") {
  Options options = GENERATE(from_range(all_modes()));
  options.scoring = blosum62_scoring(11, 1);
  compare(random_pairs(options.scoring, "ARNDCQEGHILKMFPSTWYVX", n_of(150), 0, 100, 3), options);
}

TEST_CASE("align.align: one query against many targets equals the reference", "[align][property]") {
  Options options = GENERATE(from_range(all_modes()));
  options.scoring = blosum62_scoring(11, 1);
  std::mt19937 random(4);
  Pairs pairs(options.scoring);
  const std::string text = random_text(random, kProtein, 70);
  const std::uint32_t query = pairs.add_query(text);
  const std::uint32_t other = pairs.add_query(random_text(random, kProtein, 33));
  for (int t = 0; t < static_cast<int>(n_of(150)); ++t) {
    const auto target = pairs.add_target(t % 3 == 0 ? mutate(random, kProtein, text, t % 40)
                                                    : random_text(random, kProtein, t));
    pairs.add_pair(t % 5 == 0 ? other : query, target);
  }
  compare(pairs, options);
}

TEST_CASE("align.align: batches around the vector width equal the reference", "[align][property]") {
  Options options;
  options.mode = GENERATE(Mode::local, Mode::global);
  options.scoring = dna_scoring(2, -3, 5, 2);
  for (const std::size_t n : {0, 1, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 129})
    compare(random_pairs(options.scoring, kDna, n, 1, 40, 5), options);
}

TEST_CASE("align.align: unusual costs equal the reference", "[align][property]") {
  Options options = GENERATE(from_range(all_modes()));
  for (const auto& [match, mismatch, open, extend] :
       std::vector<std::array<int, 4>>{{1, -1, 1, 3},
                                       {2, -3, 0, 0},
                                       {1, 0, 2, 0},
                                       {2, -1, 0, 1},
                                       {2, -1, 2, 2},
                                       {1, -2, 0, 1},
                                       {0, -1, 2, 1},
                                       {127, -127, 127, 127},
                                       {100, -50, 200, 128},
                                       {5, 3, 40000, 40000}}) {
    options.scoring = dna_scoring(match, mismatch, open, extend);
    compare(random_pairs(options.scoring, kDna, n_of(40), 1, 40, 6), options);
  }
}

TEST_CASE("align.align: very unequal lengths equal the reference", "[align][property]") {
  Options options = GENERATE(from_range(all_modes()));
  options.scoring = dna_scoring(1, -2, 3, 1);
  std::mt19937 random(7);
  Pairs pairs(options.scoring);
  for (const std::size_t length : {1, 2, 300, 600}) {
    for (int k = 0; k < 5; ++k) {
      const std::string text = random_text(random, kDna, length);
      pairs.add(text, random_text(random, kDna, 3));
      pairs.add("ACG", text);
      pairs.add(text, mutate(random, kDna, text, 10));
    }
  }
  compare(pairs, options);
}

TEST_CASE("align.align: no pairs give no rows", "[align]") {
  Options options;
  options.scoring = dna_scoring(2, -3, 5, 2);
  compare(Pairs(options.scoring), options);
}
