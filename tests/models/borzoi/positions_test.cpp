#include "lib/models/borzoi/positions.hpp"

#include <cmath>
#include <vector>

#include "tests/support/catch.hpp"

using namespace biogpu;
using models::borzoi::central_mask_features;
using models::borzoi::rotary_table;

TEST_CASE("borzoi.positions: widths are those of the trained length", "[borzoi][model]") {
  // Of 4 widths up to 255: 256^(1/4) - 1 = 3, 15, 63, 255.
  const auto features = central_mask_features(100, 8, 255);
  REQUIRE(features.size() == 199 * 8);
  const auto row = [&](int r) {
    const auto begin = features.begin() + (r + 99) * 8;
    return std::vector<double>(begin, begin + 8);
  };
  CHECK(row(0) == std::vector<double>{1, 1, 1, 1, 0, 0, 0, 0});
  CHECK(row(2) == std::vector<double>{1, 1, 1, 1, 1, 1, 1, 1});
  CHECK(row(-14) == std::vector<double>{0, 1, 1, 1, 0, -1, -1, -1});
  CHECK(row(62) == std::vector<double>{0, 0, 1, 1, 0, 0, 1, 1});
  CHECK(row(64) == std::vector<double>{0, 0, 0, 1, 0, 0, 0, 1});
  CHECK(row(-99) == std::vector<double>{0, 0, 0, 1, 0, 0, 0, -1});
  // For any window: the middle of a longer one's.
  const auto shorter = central_mask_features(3, 8, 255);
  CHECK(shorter == std::vector<double>(features.begin() + 97 * 8, features.begin() + 102 * 8));
}

TEST_CASE("borzoi.positions: angles fall from 1 to almost 1 / base", "[borzoi][model]") {
  const auto table = rotary_table(5, 8, 10000.0);
  REQUIRE(table.size() == 5 * 8);
  for (int position = 0; position < 5; ++position)
    for (int i = 0; i < 4; ++i) {
      const double angle = position * std::pow(10.0, -i);
      CHECK(std::fabs(table[static_cast<std::size_t>(position * 8 + i)] - std::cos(angle)) < 1e-7);
      CHECK(std::fabs(table[static_cast<std::size_t>(position * 8 + 4 + i)] - std::sin(angle)) <
            1e-7);
    }
}
