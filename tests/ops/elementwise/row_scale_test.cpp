#include "lib/ops/elementwise/row_scale.hpp"

#include "tests/ops/finite_differences.hpp"
#include "tests/ops/op_bed.hpp"
#include "tests/ops/widths/sweep.hpp"

using namespace biogpu;
using test::Bed;
using test::Doubles;
using test::Pair;

// Bounds are relative to the root mean square of what is right; a rounding to fp32 is 6e-8. One
// product: 1e-6; sums over the numbers of a row: 5e-6. Central differences in fp64 leave 1e-9:
// 1e-8.

namespace {

const test::WidthSweepEntry kRowScaleWidths("row_scale", [](Bed& bed, std::int64_t d) {
  const Pair x = bed.random({41, d}, 1, false), scale = bed.random({41}, 1, false);
  const Pair out = bed.unset({41, d}, false);
  test::compare(bed, {{out, 1e-5}}, [&](tensor::Context& context, const auto& of) {
    ops::row_scale(context, {of(x), of(scale), of(out)});
  });
});

const test::WidthSweepEntry kRowScaleGradWidths("row_scale_grad", [](Bed& bed, std::int64_t d) {
  const Pair x = bed.random({41, d}, 1, false), scale = bed.random({41}, 1, false),
             d_out = bed.random({41, d}, 1, false);
  const Pair d_x = bed.unset({41, d}, false), d_scale = bed.unset({41}, false);
  test::compare(bed, {{d_x, 1e-5}, {d_scale, 1e-5}}, [&](tensor::Context& context, const auto& of) {
    ops::row_scale_grad(context, {of(x), of(scale), of(d_out), of(d_x), of(d_scale)});
  });
});

}  // namespace

TEST_CASE("ops.row_scale: a factor for each row, and its gradient", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t d = GENERATE(1, 6, 33);
  const Pair x = bed.random({19, d}, 1, false), scale = bed.random({19}, 1, false);
  const Pair out = bed.unset({19, d}, false), d_out = bed.random({19, d}, 1, false);
  const Pair d_x = bed.unset({19, d}, false), d_scale = bed.unset({19}, false);
  ops::row_scale(bed.reference(), {x.host, scale.host, out.host});
  ops::row_scale(bed.device(), {x.device, scale.device, out.device});
  CHECK(bed.difference(out) < 1e-6);
  ops::row_scale_grad(bed.reference(), {x.host, scale.host, d_out.host, d_x.host, d_scale.host});
  ops::row_scale_grad(bed.device(),
                      {x.device, scale.device, d_out.device, d_x.device, d_scale.device});
  CHECK(bed.difference(d_x) < 1e-6);
  CHECK(bed.difference(d_scale) < 5e-6);
}

TEST_CASE("ops.row_scale_grad: agrees with finite differences", "[ops]") {
  Doubles x({4, 5}, 1, 1), scale({4}, 1, 2), out({4, 5}, 0, 0), d_out({4, 5}, 1, 3);
  Doubles d_x = x, d_scale = scale;
  const auto loss = [&] {
    ops::row_scale_ref({x.tensor(), scale.tensor(), out.tensor()});
    return test::dot(out.values, d_out.values);
  };
  ops::row_scale_grad_ref(
      {x.tensor(), scale.tensor(), d_out.tensor(), d_x.tensor(), d_scale.tensor()});
  CHECK(test::gradient_error(x.values, d_x.values, loss) < 1e-8);
  CHECK(test::gradient_error(scale.values, d_scale.values, loss) < 1e-8);
}
