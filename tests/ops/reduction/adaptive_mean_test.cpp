#include "lib/ops/reduction/adaptive_mean.hpp"

#include "lib/core/error.hpp"
#include "tests/ops/op_bed.hpp"
#include "tests/ops/widths/sweep.hpp"

using namespace biogpu;
using test::Bed;
using test::Pair;

namespace {

const test::WidthSweepEntry kAdaptiveMeanWidths("adaptive_mean", [](Bed& bed, std::int64_t d) {
  const Pair x = bed.random({2, 19, d}, 1, true), out = bed.unset({2, 7, d}, false);
  test::compare(bed, {{out, 2e-6}}, [&](tensor::Context& context, const auto& of) {
    ops::adaptive_mean(context, {of(x), of(out)});
  });
});

void check_adaptive(Bed& bed, const Pair& x, const Pair& out, std::int64_t first, std::int64_t n) {
  ops::adaptive_mean(bed.reference(), {x.host.slice(1, first, first + n), out.host});
  ops::adaptive_mean(bed.device(), {x.device.slice(1, first, first + n), out.device});
  if (out.values.empty()) return;
  CHECK(bed.difference(out) <
        (out.device.dtype == tensor::DType::f32 ? 2e-6 : bed.operand_bound()));
}

}  // namespace

TEST_CASE("ops.adaptive_mean: to fewer rows and to more", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t n = GENERATE(1, 2, 5, 16, 33, 65), m = GENERATE(0, 1, 3, 7, 16, 40, 130);
  const std::int64_t d = GENERATE(1, 33);
  const bool operand = GENERATE(false, true);
  const Pair x = bed.random({3, n + 3, d}, 1, operand), out = bed.unset({3, m, d}, operand);
  check_adaptive(bed, x, out, 2, n);
}

TEST_CASE("ops.adaptive_mean: ranges of PyTorch's rule", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  // torch.nn.functional.adaptive_avg_pool1d(torch.arange(7.), 3) and of arange(3.) to 5.
  const Pair seven = bed.pair({1, 7, 1}, {0, 1, 2, 3, 4, 5, 6}, false),
             to_three = bed.unset({1, 3, 1}, false);
  ops::adaptive_mean(bed.device(), {seven.device, to_three.device});
  CHECK(bed.fetch(to_three.device) == std::vector<float>{1, 3, 5});
  const Pair three = bed.pair({1, 3, 1}, {0, 1, 2}, false), to_five = bed.unset({1, 5, 1}, false);
  ops::adaptive_mean(bed.device(), {three.device, to_five.device});
  CHECK(bed.fetch(to_five.device) == std::vector<float>{0, 0.5f, 1, 1.5f, 2});
}

TEST_CASE("ops.adaptive_mean: no rows and other shapes are refused", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const Pair x = bed.random({2, 4, 8}, 1, false), out = bed.unset({2, 3, 8}, false);
  CHECK_THROWS_AS(ops::adaptive_mean(bed.device(), {x.device.slice(1, 1, 1), out.device}), Error);
  CHECK_THROWS_AS(ops::adaptive_mean(bed.device(), {x.device.slice(2, 0, 7), out.device}), Error);
  CHECK_THROWS_AS(ops::adaptive_mean(bed.device(), {x.device.slice(0, 0, 1), out.device}), Error);
}
