#pragma once

#include "tests/unit/align/random_pairs.hpp"

namespace biogpu::align::test {

// Half of the targets are copies of stretches of a query with some changes.
inline Pairs make_sets(const Scoring& scoring, std::string_view letters, unsigned seed,
                       int n_targets = 150) {
  std::mt19937 random(seed);
  Pairs sets(scoring);
  std::vector<std::string> queries{"", std::string(letters.substr(0, 1))};
  for (int i = 0; i < 10; ++i) queries.push_back(random_text(random, letters, 1 + random() % 130));
  for (const std::string& query : queries) sets.add_query(query);
  for (int i = 0; i < n_targets; ++i) {
    const std::string& query = queries[random() % queries.size()];
    sets.add_target(i % 2 == 0 ? mutate(random, letters, query, random() % 40)
                               : random_text(random, letters, random() % 150));
  }
  return sets;
}

}  // namespace biogpu::align::test
