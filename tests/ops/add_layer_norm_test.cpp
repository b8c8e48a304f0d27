#include "lib/ops/add_layer_norm.hpp"

#include "tests/ops/op_bed.hpp"

using namespace biogpu;
using test::Bed;
using test::Pair;

namespace {

// Centred, scaled, weighted, and moved by the bias: four roundings, none of a larger number.
void check_targets(Bed& bed, const Pair& sum, const Pair& out, const Pair& operand) {
  if (bed.is_cpu()) {
    for (const Pair* const pair : {&sum, &out, &operand}) CHECK(bed.roundings(*pair) < 4);
    return;
  }
  CHECK(bed.difference(sum) < 1e-6);
  CHECK(bed.difference(out) < 1e-5);
  CHECK(bed.difference(operand) < bed.operand_bound());
}

// One of each kernel of the GPU, and widths that fill no vector of the CPU.
std::int64_t width(const Bed& bed) {
  return bed.is_cpu() ? GENERATE(16, 31, 320) : GENERATE(64, 1000, 1032, 2560, 4100);
}

}  // namespace

TEST_CASE("ops.add_layer_norm: the sum and its normalisation", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t d = width(bed);
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
  check_targets(bed, sum, out, operand);
}

TEST_CASE("ops.add_layer_norm: operands in place", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t d = width(bed);
  const Pair weight = bed.random({d}, 1.0f, false), bias = bed.random({d}, 1.0f, false);
  const Pair x = bed.random({48, d}, 3.0f, true), out = bed.unset({48, d}, false);
  ops::add_layer_norm(bed.reference(),
                      {x.host, {}, {weight.host, bias.host, 1e-5f}, {}, out.host, x.host});
  ops::add_layer_norm(
      bed.device(), {x.device, {}, {weight.device, bias.device, 1e-5f}, {}, out.device, x.device});
  CHECK(bed.difference(out) < 1e-5);
  CHECK(bed.difference(x) < bed.operand_bound());
}
