#include "lib/ops/normalisation/layer_norm_grad.hpp"

#include "tests/ops/finite_differences.hpp"
#include "tests/ops/op_bed.hpp"
#include "tests/ops/widths/sweep.hpp"

using namespace biogpu;
using test::Bed;
using test::Doubles;
using test::Pair;

// Bounds are relative to the root mean square of what is right; a rounding to fp32 is 6e-8. Means
// of rows and their products: 1e-5. Central differences in fp64 leave 1e-9: 1e-8.

namespace {

const test::WidthSweepEntry kLayerNormGradWidths("layer_norm_grad", [](Bed& bed,
                                                                       std::int64_t width) {
  // Nothing but roundings is left of one or two numbers.
  const std::int64_t d = width + 2;
  const Pair weight = bed.random({d}, 1, false);
  const Pair x = bed.random({41, d}, 1, false), d_out = bed.random({41, d}, 1, false);
  const Pair d_x = bed.unset({41, d}, false);
  test::compare(bed, {{d_x, 1e-4}}, [&](tensor::Context& context, const auto& of) {
    ops::layer_norm_grad(context, {of(x), {of(weight), {}}, of(d_out), of(d_x)});
  });
});

}  // namespace

TEST_CASE("ops.layer_norm_grad: rows of any width", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t d = GENERATE(3, 24, 129);
  const Pair x = bed.random({19, d}, 2, false), d_out = bed.random({19, d}, 1, false);
  const Pair weight = bed.random({d}, 1, false), bias = bed.random({d}, 1, false);
  const Pair d_x = bed.unset({19, d}, false);
  ops::layer_norm_grad(bed.reference(), {x.host, {weight.host, bias.host}, d_out.host, d_x.host});
  ops::layer_norm_grad(bed.device(),
                       {x.device, {weight.device, bias.device}, d_out.device, d_x.device});
  CHECK(bed.difference(d_x) < 1e-5);
}

TEST_CASE("ops.layer_norm_grad: agrees with finite differences", "[ops]") {
  Doubles x({4, 7}, 2, 1), weight({7}, 1, 2), d_out({4, 7}, 1, 3), d_x = x;
  const ops::Norm norm{weight.tensor(), {}, 1e-5f};
  // Layer normalisation by its definition.
  const auto loss = [&] {
    double sum = 0;
    for (std::size_t r = 0; r < 4; ++r) {
      const double* const row = x.values.data() + 7 * r;
      double mean = 0, variance = 0;
      for (std::size_t k = 0; k < 7; ++k) mean += row[k] / 7;
      for (std::size_t k = 0; k < 7; ++k) variance += (row[k] - mean) * (row[k] - mean) / 7;
      for (std::size_t k = 0; k < 7; ++k)
        sum += d_out.values[7 * r + k] * weight.values[k] * (row[k] - mean) /
               std::sqrt(variance + static_cast<double>(1e-5f));
    }
    return sum;
  };
  ops::layer_norm_grad_ref({x.tensor(), norm, d_out.tensor(), d_x.tensor()});
  CHECK(test::gradient_error(x.values, d_x.values, loss) < 1e-8);
}
