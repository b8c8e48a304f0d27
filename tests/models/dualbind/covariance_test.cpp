#include "lib/models/dualbind/ops/covariance.hpp"

#include "tests/models/dualbind/complex_bed.hpp"

using namespace biogpu;
using test::Bed;
using test::Complexes;
using test::Indices;
using test::Pair;

TEST_CASE("dualbind.covariance: centre and sums of squares of each complex", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const Complexes all;
  const Pair x = bed.random({all.n_tokens, 3}, 20, false);
  const Indices starts = bed.indices(all.starts);
  const Pair centre = bed.unset({all.n_complexes, 3}, false);
  const Pair squares = bed.unset({all.n_complexes, 3, 3}, false);
  models::dualbind::covariance(bed.reference(), {x.host, starts.host, centre.host, squares.host});
  models::dualbind::covariance(bed.device(),
                               {x.device, starts.device, centre.device, squares.device});
  CHECK(bed.roundings(centre) <= 1);
  CHECK(bed.roundings(squares) <= 1);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(centre.values[3 * 1 + i] == x.values[3 * 43 + i]);  // of one token
    CHECK(squares.values[9 * 1 + i] == 0);
    CHECK(centre.values[3 * 3 + i] == 0);  // of none
  }
}
