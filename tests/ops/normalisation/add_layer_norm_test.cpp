#include "lib/ops/normalisation/add_layer_norm.hpp"

#include "lib/core/error.hpp"
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

TEST_CASE("ops.add_layer_norm: RMS norm and groups, with and without weights", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  // Each kernel of the GPU: by a wave in registers, long rows, any width.
  const std::int64_t d = bed.is_cpu() ? GENERATE(24, 30, 324) : GENERATE(24, 30, 324, 1032, 1284);
  const auto kind = GENERATE(ops::NormKind::layer, ops::NormKind::rms);
  const std::int64_t n_groups = GENERATE(1, 2, 3);
  const int affine = GENERATE(0, 1, 2);  // none, a weight, both
  CAPTURE(d, static_cast<int>(kind), n_groups, affine);
  std::vector<float> factors;  // 0.5 to 1.5: no result is far larger than the others
  for (std::int64_t c = 0; c < d; ++c)
    factors.push_back(0.5f + static_cast<float>(c * 7 % 11) / 10);
  const Pair weight = bed.pair({d}, factors, false), bias = bed.random({d}, 0.5f, false);
  const Pair x = bed.random({17, d}, 3.0f, false), add = bed.random({17, d}, 1.0f, true);
  const Pair out = bed.unset({17, d}, false), operand = bed.unset({17, d}, true);
  const auto run = [&](tensor::Context& context, const auto& of) {
    ops::AddLayerNorm op;
    op.x = of(x);
    op.add = of(add);
    if (affine > 0) op.norm.weight = of(weight);
    if (affine > 1) op.norm.bias = of(bias);
    op.out = of(out);
    op.out_operand = of(operand);
    op.kind = kind;
    op.n_groups = n_groups;
    ops::add_layer_norm(context, op);
  };
  run(bed.reference(), [](const Pair& pair) { return pair.host; });
  run(bed.device(), [](const Pair& pair) { return pair.device; });
  CHECK(bed.difference(out) < 1e-5);
  CHECK(bed.difference(operand) < bed.operand_bound());
}

TEST_CASE("ops.add_layer_norm: RMS norm of rows far from zero, and of zeros", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t d = GENERATE(7, 64);
  std::vector<float> values(static_cast<std::size_t>(2 * d), 0.0f);
  std::fill_n(values.begin(), d, 3.0f);
  const Pair x = bed.pair({2, d}, values, false), out = bed.unset({2, d}, false);
  ops::AddLayerNorm op;
  op.x = x.device;
  op.out = out.device;
  op.kind = ops::NormKind::rms;
  ops::add_layer_norm(bed.device(), op);
  const std::vector<float> got = bed.fetch(out.device);
  CHECK(std::fabs(got.front() - 1) < 1e-5f);  // where layer norm gives 0
  CHECK(got.back() == 0);
}

TEST_CASE("ops.add_layer_norm: groups that do not divide a row are refused", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const Pair x = bed.random({2, 6}, 1.0f, false), out = bed.unset({2, 6}, false);
  ops::AddLayerNorm op;
  op.x = x.device;
  op.out = out.device;
  op.n_groups = GENERATE(0, 4, 7);
  CHECK_THROWS_AS(ops::add_layer_norm(bed.device(), op), Error);
}
