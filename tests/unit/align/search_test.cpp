// The best hits of a search: how they are picked, and every device against the plain search.
#include "lib/align/search.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/align/compare.hpp"
#include "tests/unit/align/search_sets.hpp"

using namespace biogpu;
using namespace biogpu::align;
using namespace biogpu::align::test;

namespace {

int n_targets() { return static_cast<int>(n_of(150)); }

}  // namespace

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

TEST_CASE("align.search: bounds of hits and of scores equal search_ref", "[align]") {
  Options options;
  options.scoring = blosum62_scoring(11, 1);
  const Pairs sets = make_sets(options.scoring, kProtein, 10, n_targets());
  for (const Mode mode : {Mode::local, Mode::global}) {
    options.mode = mode;
    for (const std::uint32_t top : {0u, 1u, 7u, 100u})
      compare_search(sets, options, {.top = top, .min_score = mode == Mode::local ? 20 : -60});
  }
  options.mode = Mode::local;
  compare_search(sets, options, {.top = 5, .min_score = 0});
}

TEST_CASE("align.search: equals search_ref in every mode", "[align][property]") {
  Options options;
  options.mode = GENERATE(Mode::local, Mode::global, Mode::semiglobal);
  options.free_ends = {true, true, true, true};
  options.scoring = blosum62_scoring(11, 1);
  compare_search(make_sets(options.scoring, kProtein, 1, n_targets()), options);
  options.scoring = dna_scoring(5, -4, 8, 2);
  compare_search(make_sets(options.scoring, "ACGTN", 2, n_targets()), options);
}

TEST_CASE("align.search: equals search_ref for costs that 8 bits cannot hold", "[align]") {
  Options options;
  options.mode = GENERATE(Mode::local, Mode::global);
  options.scoring = dna_scoring(100, -120, 130, 7);
  compare_search(make_sets(options.scoring, kDna, 3, n_targets()), options);
  options.scoring = dna_scoring(3, -2, 1, 4);
  compare_search(make_sets(options.scoring, kDna, 4, n_targets()), options);
}

TEST_CASE("align.search: equals search_ref in a band and with X-drop", "[align]") {
  Options options;
  options.scoring = blosum62_scoring(11, 1);
  options.band = 10;
  compare_search(make_sets(options.scoring, kProtein, 5, n_targets()), options);
  options.xdrop = 20;
  compare_search(make_sets(options.scoring, kProtein, 6, n_targets()), options);
}
