#include "lib/models/tensornet/ops/node_ops.hpp"

#include "tests/ops/finite_differences.hpp"
#include "tests/ops/op_bed.hpp"

using namespace biogpu;
using namespace biogpu::models;
using test::Bed;
using test::Doubles;
using test::Pair;

// Bounds are relative to the root mean square of what is right, which its largest number exceeds 3
// to 8 times; a rounding to fp32 is 6e-8 of a number. One or two roundings: 1e-6. Sums of up to
// nine products: 3e-6. Gradients with squares and quotients of such sums, and means of rows: 1e-5.
// In fp64, central differences leave 1e-9 of a gradient (finite_differences.hpp): 1e-8.

TEST_CASE("tensornet.part_scale: a weight for each part, and its gradient", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t d = GENERATE(1, 6, 33);
  const Pair x = bed.random({9, 21, d}, 1, false), w = bed.random({21, 3, d}, 1, false);
  const Pair out = bed.unset({9, 21, d}, false), d_out = bed.random({9, 21, d}, 1, false);
  const Pair d_x = bed.unset({9, 21, d}, false), d_w = bed.unset({21, 3, d}, false);
  tensornet::part_scale(bed.reference(), {x.host, w.host, out.host});
  tensornet::part_scale(bed.device(), {x.device, w.device, out.device});
  CHECK(bed.difference(out) < 1e-6);
  tensornet::part_scale_grad(bed.reference(), {x.host, w.host, d_out.host, d_w.host, d_x.host});
  tensornet::part_scale_grad(bed.device(),
                             {x.device, w.device, d_out.device, d_w.device, d_x.device});
  CHECK(bed.difference(d_x) < 1e-6);
  CHECK(bed.difference(d_w) < 3e-6);
}

TEST_CASE("tensornet.part_scale_grad: agrees with finite differences", "[ops]") {
  Doubles x({9, 2, 3}, 1, 1), w({2, 3, 3}, 1, 2), out({9, 2, 3}, 0, 0), d_out({9, 2, 3}, 1, 4);
  Doubles d_x = x, d_w = w;
  const auto loss = [&] {
    tensornet::part_scale_ref({x.tensor(), w.tensor(), out.tensor()});
    return test::dot(out.values, d_out.values);
  };
  tensornet::part_scale_grad_ref(
      {x.tensor(), w.tensor(), d_out.tensor(), d_w.tensor(), d_x.tensor()});
  CHECK(test::gradient_error(x.values, d_x.values, loss) < 1e-8);
  CHECK(test::gradient_error(w.values, d_w.values, loss) < 1e-8);
}

TEST_CASE("tensornet.tensor_shrink: tensors over their squared norm and one", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t d = GENERATE(1, 6, 33);
  const Pair x = bed.random({9, 21, d}, 1, false), d_out = bed.random({9, 21, d}, 1, false);
  const Pair out = bed.unset({9, 21, d}, false), d_x = bed.unset({9, 21, d}, false);
  tensornet::tensor_shrink(bed.reference(), {x.host, out.host});
  tensornet::tensor_shrink(bed.device(), {x.device, out.device});
  CHECK(bed.difference(out) < 3e-6);
  tensornet::tensor_shrink_grad(bed.reference(), {x.host, d_out.host, d_x.host});
  tensornet::tensor_shrink_grad(bed.device(), {x.device, d_out.device, d_x.device});
  CHECK(bed.difference(d_x) < 1e-5);
}

TEST_CASE("tensornet.tensor_shrink_grad: agrees with finite differences", "[ops]") {
  Doubles x({9, 2, 3}, 1, 1), out({9, 2, 3}, 0, 0), d_out({9, 2, 3}, 1, 4), d_x = x;
  const auto loss = [&] {
    tensornet::tensor_shrink_ref({x.tensor(), out.tensor()});
    return test::dot(out.values, d_out.values);
  };
  tensornet::tensor_shrink_grad_ref({x.tensor(), d_out.tensor(), d_x.tensor()});
  CHECK(test::gradient_error(x.values, d_x.values, loss) < 1e-8);
}

TEST_CASE("tensornet.tensor_update: a tensor, another, and its square", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t d = GENERATE(1, 6, 33);
  const bool scaled = GENERATE(false, true);
  const Pair x = bed.random({9, 21, d}, 1, false), y = bed.random({9, 21, d}, 1, false);
  const Pair factor = scaled ? bed.random({21}, 1, false) : Pair();
  const Pair d_out = bed.random({9, 21, d}, 1, false);
  const Pair out = bed.unset({9, 21, d}, false), d_y = bed.unset({9, 21, d}, false);
  tensornet::tensor_update(bed.reference(), {x.host, y.host, factor.host, out.host});
  tensornet::tensor_update(bed.device(), {x.device, y.device, factor.device, out.device});
  CHECK(bed.difference(out) < 3e-6);
  tensornet::tensor_update_grad(bed.reference(), {y.host, factor.host, d_out.host, d_y.host});
  tensornet::tensor_update_grad(bed.device(), {y.device, factor.device, d_out.device, d_y.device});
  CHECK(bed.difference(d_y) < 1e-5);
}

TEST_CASE("tensornet.tensor_update_grad: agrees with finite differences", "[ops]") {
  Doubles x({9, 2, 3}, 1, 1), y({9, 2, 3}, 1, 2), factor({2}, 1, 3), out({9, 2, 3}, 0, 0);
  Doubles d_out({9, 2, 3}, 1, 4), d_y = y;
  const auto loss = [&] {
    tensornet::tensor_update_ref({x.tensor(), y.tensor(), factor.tensor(), out.tensor()});
    return test::dot(out.values, d_out.values);
  };
  tensornet::tensor_update_grad_ref({y.tensor(), factor.tensor(), d_out.tensor(), d_y.tensor()});
  CHECK(test::gradient_error(y.values, d_y.values, loss) < 1e-8);
  CHECK(test::gradient_error(x.values, d_out.values, loss) < 1e-8);
}
