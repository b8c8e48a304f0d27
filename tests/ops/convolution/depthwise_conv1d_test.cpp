#include "lib/ops/convolution/depthwise_conv1d.hpp"

#include "tests/ops/op_bed.hpp"

using namespace biogpu;
using test::Bed;
using test::Pair;

TEST_CASE("ops.depthwise_conv1d: ends of segments, odd widths", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t taps = GENERATE(1, 3, 7), d = GENERATE(33, 64);
  const bool operand = GENERATE(false, true);
  const test::RaggedPair segments = bed.segments({2, 41, 1, 0, 18});
  const Pair x = bed.random({62, d}, 2.0f, operand), weight = bed.random({taps, d}, 0.7f, false);
  const Pair scale = bed.random({d}, 0.5f, false), shift = bed.random({d}, 0.5f, false);
  const Pair y = bed.unset({62, d}, false), next = bed.unset({62, d}, true);
  ops::depthwise_conv1d(bed.reference(),
                        {x.host,
                         weight.host,
                         &segments.host,
                         y.host,
                         {scale.host, shift.host, ops::Activation::gelu_tanh, next.host}});
  ops::depthwise_conv1d(bed.device(),
                        {x.device,
                         weight.device,
                         &segments.device,
                         y.device,
                         {scale.device, shift.device, ops::Activation::gelu_tanh, next.device}});
  // A sum of up to 7 products in fp32, 7 * 2^-24 of numbers up to 5 times the root mean square; the
  // activation adds its own rounding. 16-bit results are rounded once more.
  CHECK(bed.difference(y) < 2e-6);
  CHECK(bed.difference(next) < (bed.is_cpu() ? 4e-6 : 2 * bed.operand_bound()));
}

TEST_CASE("ops.depthwise_conv1d: a sum by hand, what is before a segment does not count", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const test::RaggedPair segments = bed.segments({1, 3});
  const Pair x = bed.pair({4, 1}, {100, 1, 2, 3}, false);
  const Pair weight = bed.pair({3, 1}, {0.5f, 1, 4}, false), y = bed.unset({4, 1}, false);
  ops::depthwise_conv1d(bed.device(), {x.device, weight.device, &segments.device, y.device, {}});
  CHECK(bed.fetch(y.device) == std::vector<float>{100, 9, 14.5f, 4});
}

TEST_CASE("ops.depthwise_conv1d: no rows", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const test::RaggedPair segments = bed.segments({0, 0});
  const Pair x = bed.pair({0, 8}, {}, true), weight = bed.random({3, 8}, 1, false);
  ops::depthwise_conv1d(bed.device(), {x.device, weight.device, &segments.device, x.device, {}});
  bed.device().synchronize();
}
