#include "lib/report/counted.hpp"

#include "tests/support/catch.hpp"

using biogpu::report::counted;

TEST_CASE("report.counted: one of a kind is not told in the plural", "[report]") {
  CHECK(counted(0, "frames") == "0 frames");
  CHECK(counted(1, "frames") == "1 frame");
  CHECK(counted(12, "frames") == "12 frames");
  CHECK(counted(1, "bases") == "1 base");
  CHECK(counted(1, "places") == "1 place");
  CHECK(counted(1, "queries") == "1 query");
  CHECK(counted(1, "matches") == "1 match");
  CHECK(counted(1, "complexes") == "1 complex");
  CHECK(counted(1, "symbolic alleles") == "1 symbolic allele");
}
