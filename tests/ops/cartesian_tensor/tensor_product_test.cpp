#include "lib/ops/cartesian_tensor/tensor_product.hpp"

#include "tests/ops/op_bed.hpp"

using namespace biogpu;
using test::Bed;
using test::Pair;

TEST_CASE("ops.tensor_product: from both sides and from one, with a factor and without", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t d = GENERATE(1, 6, 33);
  const bool one_sided = GENERATE(false, true), scaled = GENERATE(false, true);
  const Pair y = bed.random({9, 21, d}, 1, false), m = bed.random({9, 21, d}, 1, false);
  const Pair factor = scaled ? bed.random({21}, 1, false) : Pair();
  const Pair out = bed.unset({9, 21, d}, false);
  ops::tensor_product(bed.reference(), {y.host, m.host, factor.host, one_sided, out.host});
  ops::tensor_product(bed.device(), {y.device, m.device, factor.device, one_sided, out.device});
  CHECK(bed.difference(out) < 5e-6);
}

TEST_CASE("ops.tensor_product: matrices by hand", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  // Y = 2 and M = rows 0 1 0, -1 0 0, 0 0 0: both sides give 4 M, of norm 32.
  const Pair y = bed.pair({9, 1, 1}, {2, 0, 0, 0, 0, 0, 0, 0, 0}, false);
  const Pair m = bed.pair({9, 1, 1}, {0, 1, 0, 0, 0, 0, 0, 0, 0}, false);
  const Pair out = bed.unset({9, 1, 1}, false);
  ops::tensor_product(bed.device(), {y.device, m.device, {}, false, out.device});
  std::vector<float> got = bed.fetch(out.device);
  CHECK(std::fabs(got[1] - 4.0f / 33.0f) < 1e-7f);
  got[1] = 0;
  CHECK(got == std::vector<float>(9, 0.0f));
  // Y with one number above the diagonal, M with one below, 2 Y M is 2 at the first place:
  // a third of it in each of the scalar part's, over 1 + 4.
  const Pair above = bed.pair({9, 1, 1}, {0, 0.5f, 0, 0, 0, 0.5f, 0, 0, 0}, false);
  const Pair below = bed.pair({9, 1, 1}, {0, -0.5f, 0, 0, 0, 0.5f, 0, 0, 0}, false);
  ops::tensor_product(bed.device(), {above.device, below.device, {}, true, out.device});
  got = bed.fetch(out.device);
  const float third = 2.0f / 3.0f / 5.0f;
  CHECK(std::fabs(got[0] - third) < 1e-7f);
  CHECK(std::fabs(got[4] - 2 * third) < 1e-7f);
  CHECK(std::fabs(got[7] + third) < 1e-7f);
  CHECK((got[1] == 0 && got[5] == 0));
}
