#include "lib/ops/elementwise/tanh.hpp"

#include "tests/ops/op_bed.hpp"

using namespace biogpu;
using test::Bed;
using test::Pair;

TEST_CASE("ops.tanh: numbers in place", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const Pair x = bed.random({62, 33}, 2.0f, false);
  ops::tanh(bed.reference(), {x.host});
  ops::tanh(bed.device(), {x.device});
  CHECK(bed.difference(x) < (bed.is_cpu() ? 1e-6 : 1e-5));
}
