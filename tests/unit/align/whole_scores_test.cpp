#include "lib/align/whole_scores.hpp"

#include "tests/support/catch.hpp"

using biogpu::align::how_to_scale;

TEST_CASE("align.whole_scores: fractions become whole by the smallest factor", "[align]") {
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
