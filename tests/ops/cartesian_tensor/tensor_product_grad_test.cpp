#include "lib/ops/cartesian_tensor/tensor_product_grad.hpp"

#include "lib/ops/cartesian_tensor/tensor_product.hpp"
#include "tests/ops/finite_differences.hpp"
#include "tests/ops/op_bed.hpp"

using namespace biogpu;
using test::Bed;
using test::Doubles;
using test::Pair;

TEST_CASE("ops.tensor_product_grad: what both tensors get back", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t d = GENERATE(1, 6, 33);
  const bool one_sided = GENERATE(false, true), scaled = GENERATE(false, true);
  const Pair y = bed.random({9, 21, d}, 1, false), m = bed.random({9, 21, d}, 1, false);
  const Pair factor = scaled ? bed.random({21}, 1, false) : Pair();
  const Pair d_out = bed.random({9, 21, d}, 1, false);
  const Pair d_y = bed.unset({9, 21, d}, false), d_m = bed.unset({9, 21, d}, false);
  ops::tensor_product_grad(
      bed.reference(), {y.host, m.host, factor.host, one_sided, d_out.host, d_y.host, d_m.host});
  ops::tensor_product_grad(bed.device(), {y.device, m.device, factor.device, one_sided,
                                          d_out.device, d_y.device, d_m.device});
  CHECK(bed.difference(d_y) < 1e-5);
  CHECK(bed.difference(d_m) < 1e-5);
}

TEST_CASE("ops.tensor_product_grad: agrees with finite differences", "[ops]") {
  const bool one_sided = GENERATE(false, true);
  Doubles y({9, 2, 3}, 1, 1), m({9, 2, 3}, 1, 2), factor({2}, 1, 3), out({9, 2, 3}, 0, 0);
  Doubles d_out({9, 2, 3}, 1, 4), d_y = y, d_m = m;
  const auto loss = [&] {
    ops::tensor_product_ref({y.tensor(), m.tensor(), factor.tensor(), one_sided, out.tensor()});
    return test::dot(out.values, d_out.values);
  };
  ops::tensor_product_grad_ref({y.tensor(), m.tensor(), factor.tensor(), one_sided, d_out.tensor(),
                                d_y.tensor(), d_m.tensor()});
  CHECK(test::gradient_error(y.values, d_y.values, loss) < 1e-8);
  CHECK(test::gradient_error(m.values, d_m.values, loss) < 1e-8);
}
