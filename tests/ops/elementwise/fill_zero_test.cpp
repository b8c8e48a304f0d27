#include "lib/ops/elementwise/fill_zero.hpp"

#include "tests/ops/op_bed.hpp"

using namespace biogpu;
using test::Bed;
using test::Pair;

TEST_CASE("ops.fill_zero: all numbers, and no others", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const Pair x = bed.random({62, 33}, 2.0f, false);
  const tensor::Tensor some = x.device.slice(0, 1, 61);
  ops::fill_zero(bed.reference(), {x.host.slice(0, 1, 61)});
  ops::fill_zero(bed.device(), {some});
  CHECK(bed.fetch(x.device) == x.values);
  CHECK(x.values[0] != 0.0f);
  CHECK(x.values[33] == 0.0f);
}
