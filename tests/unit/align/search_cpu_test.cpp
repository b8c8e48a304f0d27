// What the search on the CPU alone has: several targets a lane, skewed columns, scores at the
// limits of 8 bits. On every instruction set of this machine.
#include "lib/align/search.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/align/compare.hpp"
#include "tests/unit/align/search_sets.hpp"

using namespace biogpu;
using namespace biogpu::align;
using namespace biogpu::align::test;

TEST_CASE("align.search_cpu: equals search_ref where nothing costs anything", "[align]") {
  Options options;
  options.mode = GENERATE(Mode::local, Mode::global, Mode::semiglobal);
  options.scoring = blosum62_scoring(0, GENERATE(0, 1));
  const int least = GENERATE(0, 1, -1);
  for (auto& row : options.scoring.score)
    for (auto& score : row) score = static_cast<std::int8_t>(std::max<int>(score, least));
  compare_search(make_sets(options.scoring, kProtein, 11), options);
}

TEST_CASE("align.search_cpu: equals search_ref for gap costs of every kind", "[align][property]") {
  Options options;
  options.mode = Mode::local;
  // Extensions that columns are skewed by and others, of no cost, as dear as opening, dearer.
  const auto [open, extend] = GENERATE(table<int, int>(
      {{12, 1}, {10, 2}, {4, 4}, {5, 5}, {9, 0}, {0, 0}, {1, 3}, {20, 3}, {40, 4}, {100, 2}}));
  options.scoring = blosum62_scoring(open, extend);
  compare_search(make_sets(options.scoring, kProtein, 7), options);
  // Rows of about one tile of 64, 32 and 16 bytes; short targets, for the reference's sake, that
  // fill the lanes of any vector.
  Pairs tall(options.scoring);
  std::mt19937 random(8);
  for (const std::size_t length : {1023, 1024, 1025, 2047, 2049, 4097, 8193}) {
    const std::string text = random_text(random, kProtein, length);
    tall.add_query(text);
    tall.add_target(length == 1025 ? text : text.substr(length / 2, 100));
    for (int i = 0; i < 10; ++i)
      tall.add_target(mutate(random, kProtein, text.substr(random() % length, 40), random() % 8));
  }
  compare_search(tall, options);
}

TEST_CASE("align.search_cpu: equals search_ref for targets of very unequal length",
          "[align][property]") {
  Options options;
  options.mode = Mode::local;
  options.scoring = blosum62_scoring(11, GENERATE(0, 1, 3));
  const std::size_t n_targets = GENERATE(0u, 1u, 2u, 70u, 300u);
  std::mt19937 random(static_cast<unsigned>(10 + n_targets));
  Pairs sets(options.scoring);
  std::vector<std::string> queries{""};
  // The last takes several tiles, and most of what it finds saturates bytes.
  for (const std::size_t length : {1, 30, 250, 2100})
    queries.push_back(random_text(random, kProtein, length));
  for (const std::string& query : queries) sets.add_query(query);
  for (std::size_t i = 0; i < n_targets; ++i) {
    const std::string& query = queries[random() % queries.size()];
    // One long, some of about the least length that another target's lane is shared with.
    const std::size_t length = i == 0 ? 1500 : i % 3 == 0 ? 90 + random() % 15 : random() % 160;
    const std::size_t begin = query.empty() ? 0 : random() % query.size();
    const std::string text = query.substr(begin, length);
    sets.add_target(i % 2 == 1 ? mutate(random, kProtein, text, random() % 60)
                               : random_text(random, kProtein, length));
  }
  for (const SearchOptions search :
       {SearchOptions{0, 1}, SearchOptions{1, 1}, SearchOptions{10, 1}, SearchOptions{10, 60}})
    compare_search(sets, options, search);
}

TEST_CASE("align.search_cpu: equals search_ref for scores at the ends of a byte",
          "[align][property]") {
  Options options;
  options.mode = Mode::local;
  // Around those that skewed columns can still raise by 1 and 4, and lower by 3 and 12.
  const auto [extend, score] = GENERATE(table<int, int>({{1, 126},
                                                         {1, 127},
                                                         {4, 123},
                                                         {4, 124},
                                                         {1, -125},
                                                         {1, -126},
                                                         {4, -116},
                                                         {4, -117},
                                                         {4, -127}}));
  options.scoring = blosum62_scoring(12, extend);
  const std::size_t a = options.scoring.class_of['A'];
  const std::size_t b = score > 0 ? a : options.scoring.class_of['L'];
  options.scoring.score[a][b] = options.scoring.score[b][a] = static_cast<std::int8_t>(score);
  compare_search(make_sets(options.scoring, kProtein, 9), options);
}

TEST_CASE("align.search_cpu: equals search_ref where few columns use the room of a byte up",
          "[align][property]") {
  Options options;
  options.mode = Mode::local;
  const int diagonal = GENERATE(0, 13, 17);
  options.scoring = diagonal == 0 ? blosum62_scoring(40, 4) : blosum62_scoring(12, 1);
  if (diagonal > 0)
    for (std::size_t a = 0; a < static_cast<std::size_t>(options.scoring.n_classes); ++a)
      options.scoring.score[a][a] = static_cast<std::int8_t>(diagonal);
  std::mt19937 random(11);
  const std::string text =
      diagonal == 0 ? std::string(280, 'W') : random_text(random, kProtein, 280);
  Pairs sets(options.scoring);
  for (std::size_t length = 40; length < 280; length += 6) {
    sets.add_query(text.substr(0, length));
    sets.add_target(text.substr(0, length));
  }
  for (const SearchOptions search : {SearchOptions{0, 1}, SearchOptions{10, 30}})
    compare_search(sets, options, search);
}

TEST_CASE("align.search_cpu: equals search_ref where skewed columns leave a byte no room",
          "[align]") {
  Options options;
  options.mode = Mode::local;
  options.scoring = blosum62_scoring(236, 4);
  const auto n = static_cast<std::size_t>(options.scoring.n_classes);
  for (std::size_t a = 0; a < n; ++a)
    for (std::size_t b = 0; b < n; ++b) options.scoring.score[a][b] = a == b ? 1 : -1;
  compare_search(make_sets(options.scoring, kProtein, 12), options);
  compare_search(make_sets(options.scoring, kProtein, 13), options, {10, 30});
}
