#include "lib/ops/cartesian_tensor/tensor_norm.hpp"

#include "tests/ops/op_bed.hpp"

using namespace biogpu;
using test::Bed;
using test::Pair;

TEST_CASE("ops.tensor_norm: of whole tensors and of their parts", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t d = GENERATE(1, 6, 33), n_parts = GENERATE(1, 3);
  const Pair x = bed.random({9, 21, d}, 1, false), out = bed.unset({21, n_parts, d}, false);
  ops::tensor_norm(bed.reference(), {x.host, out.host});
  ops::tensor_norm(bed.device(), {x.device, out.device});
  CHECK(bed.difference(out) < 2e-6);
}

TEST_CASE("ops.tensor_norm: a matrix by hand", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  // I 2, A 1 0 3, S00 1, S01 2, S02 0, S11 3, S12 -1: rows 3 3 0, 1 5 2, 0 -4 -2.
  const Pair x = bed.pair({9, 1, 1}, {2, 1, 0, 3, 1, 2, 0, 3, -1}, false);
  const Pair whole = bed.unset({1, 1, 1}, false), parts = bed.unset({1, 3, 1}, false);
  ops::tensor_norm(bed.device(), {x.device, whole.device});
  ops::tensor_norm(bed.device(), {x.device, parts.device});
  CHECK(bed.fetch(whole.device) == std::vector<float>{9 + 9 + 1 + 25 + 4 + 16 + 4});
  CHECK(bed.fetch(parts.device) == std::vector<float>{12, 20, 36});
}
