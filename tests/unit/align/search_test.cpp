#include "lib/align/search.hpp"

#include <algorithm>
#include <random>
#include <string>

#include "tests/support/catch.hpp"
#include "tests/unit/align/random_pairs.hpp"

using namespace biogpu;
using namespace biogpu::align;

TEST_CASE("align.search: the picker keeps the best, the lower index among equals", "[align]") {
  HitPicker picker({.top = 3, .min_score = 2});
  for (const Hit hit : {Hit{5, 7}, {1, 2}, {9, 7}, {0, 1}, {3, 7}, {4, 9}, {8, 7}, {2, 7}})
    picker.offer(hit);
  Hits hits;
  picker.finish(hits);
  picker.finish(hits);
  CHECK(hits.n_queries() == 2);
  CHECK(hits.rows == std::vector<Hit>{{4, 9}, {2, 7}, {3, 7}});
  CHECK(hits.of(1).empty());
}

TEST_CASE("align.search: without a bound every hit is kept in order", "[align]") {
  HitPicker picker({.top = 0, .min_score = -5});
  for (const Hit hit : {Hit{2, -5}, {1, -6}, {0, 3}, {3, -5}}) picker.offer(hit);
  Hits hits;
  picker.finish(hits);
  CHECK(hits.rows == std::vector<Hit>{{0, 3}, {2, -5}, {3, -5}});
}

TEST_CASE("align.search: search_cpu finds the hits of search_ref", "[align]") {
  Options options;
  options.scoring = blosum62_scoring(11, 1);
  std::mt19937 random(7);
  test::Pairs pairs(options.scoring);
  for (int i = 0; i < 5; ++i)
    pairs.add_query(test::random_text(random, test::kProtein, random() % 90));
  for (int i = 0; i < 60; ++i)
    pairs.add_target(test::random_text(random, test::kProtein, random() % 120));
  const Work work = pairs.work();
  for (const Mode mode : {Mode::local, Mode::global}) {
    options.mode = mode;
    for (const std::uint32_t top : {0u, 1u, 7u, 100u}) {
      const SearchOptions search{.top = top, .min_score = mode == Mode::local ? 20 : -60};
      const Hits expected = search_ref(work.queries, work.targets, options, search);
      for (const int n_threads : {1, 3}) {
        const Hits got = search_cpu(work.queries, work.targets, options, search, n_threads);
        CHECK(got.begin == expected.begin);
        CHECK(got.rows == expected.rows);
      }
    }
  }
}
