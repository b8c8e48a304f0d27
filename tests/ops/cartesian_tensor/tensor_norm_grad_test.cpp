#include "lib/ops/cartesian_tensor/tensor_norm_grad.hpp"

#include "lib/ops/cartesian_tensor/tensor_norm.hpp"
#include "tests/ops/finite_differences.hpp"
#include "tests/ops/op_bed.hpp"

using namespace biogpu;
using test::Bed;
using test::Doubles;
using test::Pair;

TEST_CASE("ops.tensor_norm_grad: what the 9 numbers get back", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t d = GENERATE(1, 6, 33), n_parts = GENERATE(1, 3);
  const Pair x = bed.random({9, 21, d}, 1, false), d_out = bed.random({21, n_parts, d}, 1, false),
             d_x = bed.unset({9, 21, d}, false);
  ops::tensor_norm_grad(bed.reference(), {x.host, d_out.host, d_x.host});
  ops::tensor_norm_grad(bed.device(), {x.device, d_out.device, d_x.device});
  CHECK(bed.difference(d_x) < 2e-6);
}

TEST_CASE("ops.tensor_norm_grad: agrees with finite differences", "[ops]") {
  const std::int64_t n_parts = GENERATE(1, 3);
  Doubles x({9, 2, 3}, 1, 1), out({2, n_parts, 3}, 0, 0), d_out({2, n_parts, 3}, 1, 2), d_x = x;
  const auto loss = [&] {
    ops::tensor_norm_ref({x.tensor(), out.tensor()});
    return test::dot(out.values, d_out.values);
  };
  ops::tensor_norm_grad_ref({x.tensor(), d_out.tensor(), d_x.tensor()});
  CHECK(test::gradient_error(x.values, d_x.values, loss) < 1e-8);
}
