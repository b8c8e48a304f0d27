#include "lib/models/potential/pair_list.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <set>
#include <tuple>
#include <vector>

#include "lib/core/error.hpp"
#include "tests/support/catch.hpp"

using namespace biogpu;
using models::Box;
using models::PairList;

namespace {

using Entry = std::tuple<std::size_t, std::int32_t, std::array<std::int32_t, 3>>;

std::set<Entry> entries_of(const PairList& list) {
  std::set<Entry> entries;
  for (std::size_t i = 0; i < list.n_atoms(); ++i)
    for (auto e = static_cast<std::size_t>(list.starts[i]);
         e < static_cast<std::size_t>(list.starts[i + 1]); ++e)
      entries.insert({i, list.neighbours[e],
                      list.shifts.empty() ? std::array<std::int32_t, 3>{} : list.shifts[e]});
  return entries;
}

// Every atom with every image in a generous range.
std::set<Entry> all_pairs(const std::vector<double>& x, const Box* box, double radius, int range) {
  std::set<Entry> entries;
  if (box == nullptr) range = 0;
  for (std::size_t i = 0; i < x.size() / 3; ++i)
    for (std::size_t j = 0; j < x.size() / 3; ++j)
      for (int a = -range; a <= range; ++a)
        for (int b = -range; b <= range; ++b)
          for (int c = -range; c <= range; ++c) {
            if (i == j && a == 0 && b == 0 && c == 0) continue;
            double squares = 0;
            for (std::size_t k = 0; k < 3; ++k) {
              double r = x[3 * i + k] - x[3 * j + k];
              if (box) r -= a * (*box)[k] + b * (*box)[3 + k] + c * (*box)[6 + k];
              squares += r * r;
            }
            if (squares <= radius * radius)
              entries.insert({i, static_cast<std::int32_t>(j), {a, b, c}});
          }
  return entries;
}

std::vector<double> random_positions(std::size_t n, double extent, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> at(-extent, extent);
  std::vector<double> x(3 * n);
  for (double& v : x) v = at(random);
  return x;
}

}  // namespace

TEST_CASE("models.pair_list: pairs are those of all images, sorted and both ways round",
          "[models]") {
  const Box cube{6, 0, 0, 0, 7, 0, 0, 0, 8};
  const Box skewed{4, 0.5, 0, -2.5, 5, 0.3, 1.5, -2, 4.5};
  const Box left{0, 9, 0, 8, 0, 0, 0, 0, 10};
  const Box thin{2.4, 0, 0, 0.3, 20, 0, 0, 0, 2.1};
  for (const Box* box : {static_cast<const Box*>(nullptr), &cube, &skewed, &left, &thin}) {
    // Atoms lie outside of the box too.
    const std::vector<double> x = random_positions(24, 9, box == nullptr ? 1 : 2);
    for (const double radius : {1.2, 3.0, 5.0}) {
      const PairList list = models::find_pairs(x, box, radius);
      CAPTURE(radius);
      const std::set<Entry> entries = entries_of(list);
      CHECK(entries == all_pairs(x, box, radius, 16));
      CHECK(list.n_atoms() == 24);
      CHECK(entries.size() == list.neighbours.size());
      std::size_t n_one_way = 0;
      for (const auto& [i, j, shift] : entries)
        n_one_way += 1 - entries.count({static_cast<std::size_t>(j),
                                        static_cast<std::int32_t>(i),
                                        {-shift[0], -shift[1], -shift[2]}});
      CHECK(n_one_way == 0);
    }
  }
}

TEST_CASE("models.pair_list: atoms far apart need no more memory", "[models]") {
  std::vector<double> x = random_positions(50, 4, 3);
  for (std::size_t k = 0; k < 3; ++k) x[k] = 1e9;
  const PairList list = models::find_pairs(x, nullptr, 3);
  CHECK(entries_of(list) == all_pairs(x, nullptr, 3, 0));
  CHECK(list.starts[1] == 0);
  CHECK(models::find_pairs({}, nullptr, 3).neighbours.empty());
}

TEST_CASE("models.pair_list: a crystal of one atom has its images", "[models]") {
  const double h = 2.8665 / 2;  // bcc iron
  const Box box{-h, h, h, h, -h, h, h, h, -h};
  const PairList list = models::find_pairs({0.1, 0.2, 0.3}, &box, 5.0);
  CHECK(list.neighbours.size() == 58);
}

TEST_CASE("models.pair_list: boxes that cannot be are refused", "[models]") {
  const std::vector<double> x{0, 0, 0};
  const Box flat{1, 0, 0, 0, 1, 0, 1, 1, 0}, tiny{0.01, 0, 0, 0, 10, 0, 0, 0, 10};
  CHECK_THROWS_AS(models::find_pairs(x, &flat, 5), Error);
  CHECK_THROWS_AS(models::find_pairs(x, &tiny, 5), Error);
  const Box box{3, 0, 0, 0, 3, 0, 0, 0, 3};
  CHECK_THROWS_AS(models::find_pairs({1e12, 0, 0}, &box, 5), Error);
}

TEST_CASE("models.pair_list: numbers that are not finite are refused", "[models]") {
  const double number =
      GENERATE(std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
               -std::numeric_limits<double>::infinity(), 1e300);
  CAPTURE(number);
  const Box box{9, 0, 0, 0, 9, 0, 0, 0, 9};
  for (std::size_t k = 0; k < 6; ++k) {
    std::vector<double> x{0, 0, 0, 1, 1, 1};
    x[k] = number;
    CHECK_THROWS_AS(models::find_pairs(x, nullptr, 3), Error);
    CHECK_THROWS_AS(models::find_pairs(x, &box, 3), Error);
  }
  const std::vector<double> x{0, 0, 0, 1, 1, 1};
  for (std::size_t k = 0; k < 9; ++k) {
    Box wrong = box;
    wrong[k] = number;
    CHECK_THROWS_AS(models::find_pairs(x, &wrong, 3), Error);
  }
  CHECK_THROWS_AS(models::find_pairs(x, nullptr, number), Error);
  CHECK(models::find_pairs(x, nullptr, 3).neighbours.size() == 2);
  CHECK(models::find_pairs(x, &box, 3).neighbours.size() == 2);
}
