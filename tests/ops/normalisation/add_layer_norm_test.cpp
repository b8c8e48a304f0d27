#include "lib/ops/normalisation/add_layer_norm.hpp"

#include "tests/ops/norm_targets.hpp"

using namespace biogpu;
using test::Bed;
using test::Pair;

TEST_CASE("ops.add_layer_norm: the sum and its normalisation", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t d = test::width_of_norm(bed);
  const Pair weight = bed.random({d}, 1.0f, false), bias = bed.random({d}, 1.0f, false);
  const Pair x = bed.random({48, d}, 3.0f, false), add = bed.random({48, d}, 1.0f, true);
  const Pair sum = bed.unset({48, d}, false), out = bed.unset({48, d}, false),
             operand = bed.unset({48, d}, true);
  ops::add_layer_norm(
      bed.reference(),
      {x.host, add.host, {weight.host, bias.host, 1e-5f}, sum.host, out.host, operand.host});
  ops::add_layer_norm(bed.device(), {x.device,
                                     add.device,
                                     {weight.device, bias.device, 1e-5f},
                                     sum.device,
                                     out.device,
                                     operand.device});
  test::check_targets(bed, sum, out, operand);
}

TEST_CASE("ops.add_layer_norm: operands in place", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t d = test::width_of_norm(bed);
  const Pair weight = bed.random({d}, 1.0f, false), bias = bed.random({d}, 1.0f, false);
  const Pair x = bed.random({48, d}, 3.0f, true), out = bed.unset({48, d}, false);
  ops::add_layer_norm(bed.reference(),
                      {x.host, {}, {weight.host, bias.host, 1e-5f}, {}, out.host, x.host});
  ops::add_layer_norm(
      bed.device(), {x.device, {}, {weight.device, bias.device, 1e-5f}, {}, out.device, x.device});
  CHECK(bed.difference(out) < 1e-5);
  CHECK(bed.difference(x) < bed.operand_bound());
}
