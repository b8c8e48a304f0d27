#include "lib/ops/elementwise/sigmoid_gate.hpp"

#include "tests/ops/finite_differences.hpp"
#include "tests/ops/op_bed.hpp"
#include "tests/ops/widths/sweep.hpp"

using namespace biogpu;
using test::Bed;
using test::Doubles;
using test::Pair;

// Bounds are relative to the root mean square of what is right; a rounding to fp32 is 6e-8. A
// sigmoid and up to three products: 3e-6. Central differences in fp64 leave 1e-9: 1e-8.

namespace {

const test::WidthSweepEntry kSigmoidGateWidths("sigmoid_gate", [](Bed& bed, std::int64_t d) {
  const Pair x = bed.random({41, d}, 1, false), gate = bed.random({41, d}, 3, false);
  const Pair out = bed.unset({41, d}, false);
  test::compare(bed, {{out, 1e-5}}, [&](tensor::Context& context, const auto& of) {
    ops::sigmoid_gate(context, {of(x), of(gate), of(out)});
  });
});

const test::WidthSweepEntry kSigmoidGateGradWidths("sigmoid_gate_grad", [](Bed& bed,
                                                                           std::int64_t d) {
  const Pair x = bed.random({41, d}, 1, false), gate = bed.random({41, d}, 3, false),
             d_out = bed.random({41, d}, 1, false);
  const Pair d_x = bed.unset({41, d}, false), d_gate = bed.unset({41, d}, false);
  test::compare(bed, {{d_x, 1e-5}, {d_gate, 1e-5}}, [&](tensor::Context& context, const auto& of) {
    ops::sigmoid_gate_grad(context, {of(x), of(gate), of(d_out), of(d_x), of(d_gate)});
  });
});

}  // namespace

TEST_CASE("ops.sigmoid_gate: products with a sigmoid, and their gradient", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t d = GENERATE(1, 7, 40);
  const Pair x = bed.random({19, d}, 1, false), gate = bed.random({19, d}, 3, false);
  const Pair out = bed.unset({19, d}, false), d_out = bed.random({19, d}, 1, false);
  const Pair d_x = bed.unset({19, d}, false), d_gate = bed.unset({19, d}, false);
  ops::sigmoid_gate(bed.reference(), {x.host, gate.host, out.host});
  ops::sigmoid_gate(bed.device(), {x.device, gate.device, out.device});
  CHECK(bed.difference(out) < 3e-6);
  ops::sigmoid_gate_grad(bed.reference(), {x.host, gate.host, d_out.host, d_x.host, d_gate.host});
  ops::sigmoid_gate_grad(bed.device(),
                         {x.device, gate.device, d_out.device, d_x.device, d_gate.device});
  CHECK(bed.difference(d_x) < 3e-6);
  CHECK(bed.difference(d_gate) < 3e-6);
}

TEST_CASE("ops.sigmoid_gate_grad: agrees with finite differences", "[ops]") {
  Doubles x({4, 5}, 1, 1), gate({4, 5}, 2, 2), out({4, 5}, 0, 0), d_out({4, 5}, 1, 3);
  Doubles d_x = x, d_gate = x;
  const auto loss = [&] {
    ops::sigmoid_gate_ref({x.tensor(), gate.tensor(), out.tensor()});
    return test::dot(out.values, d_out.values);
  };
  ops::sigmoid_gate_grad_ref(
      {x.tensor(), gate.tensor(), d_out.tensor(), d_x.tensor(), d_gate.tensor()});
  CHECK(test::gradient_error(x.values, d_x.values, loss) < 1e-8);
  CHECK(test::gradient_error(gate.values, d_gate.values, loss) < 1e-8);
}
