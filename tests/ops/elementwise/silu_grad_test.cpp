#include "lib/ops/elementwise/silu_grad.hpp"

#include "lib/ops/elementwise/silu.hpp"
#include "tests/ops/finite_differences.hpp"
#include "tests/ops/op_bed.hpp"

using namespace biogpu;
using test::Bed;
using test::Doubles;
using test::Pair;

TEST_CASE("ops.silu_grad: slopes at numbers of either sign", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const bool to_operand = GENERATE(false, true);
  std::vector<float> values(31 * 33);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) * 0.02f - 10;
  const Pair x = bed.pair({31, 33}, values, false), d_out = bed.random({31, 33}, 1, false),
             d_x = bed.unset({31, 33}, to_operand);
  ops::silu_grad(bed.reference(), {x.host, d_out.host, d_x.host});
  ops::silu_grad(bed.device(), {x.device, d_out.device, d_x.device});
  CHECK(bed.difference(d_x) < (to_operand ? 2 * bed.operand_bound() : 3e-6));
}

TEST_CASE("ops.silu_grad: numbers whose exponential is none", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const Pair x = bed.pair({1, 4}, {-1000, -90, 90, 1000}, false);
  const Pair d_out = bed.pair({1, 4}, {1, 2, 3, 4}, false), d_x = bed.unset({1, 4}, false);
  ops::silu_grad(bed.device(), {x.device, d_out.device, d_x.device});
  const std::vector<float> got = bed.fetch(d_x.device);
  CHECK((std::fabs(got[0]) < 1e-30f && std::fabs(got[1]) < 1e-30f));
  CHECK((got[2] == 3 && got[3] == 4));
}

TEST_CASE("ops.silu_grad: agrees with finite differences", "[ops]") {
  Doubles x({4, 5}, 2, 1), out({4, 5}, 0, 0), d_out({4, 5}, 1, 2), d_x = out;
  const auto loss = [&] {
    ops::silu_ref({x.tensor(), out.tensor()});
    return test::dot(out.values, d_out.values);
  };
  ops::silu_grad_ref({x.tensor(), d_out.tensor(), d_x.tensor()});
  CHECK(test::gradient_error(x.values, d_x.values, loss) < 1e-8);
}
