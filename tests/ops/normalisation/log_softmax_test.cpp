#include "lib/ops/normalisation/log_softmax.hpp"

#include "tests/ops/op_bed.hpp"

using namespace biogpu;
using test::Bed;
using test::Pair;

TEST_CASE("ops.log_softmax: logarithms of probabilities", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t v = GENERATE(1, 33, 70);
  const Pair x = bed.random({62, v}, 10.0f, false);
  ops::log_softmax(bed.reference(), {x.host});
  ops::log_softmax(bed.device(), {x.device});
  if (v > 1) CHECK(bed.difference(x) < (bed.is_cpu() ? 1e-6 : 1e-5));
  double sum = 0;
  const auto got = bed.fetch(x.device);
  for (std::int64_t i = 0; i < v; ++i) sum += std::exp(got[static_cast<std::size_t>(i)]);
  CHECK(std::fabs(sum - 1) < 1e-5);
}
