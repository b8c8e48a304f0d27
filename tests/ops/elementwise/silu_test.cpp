#include "lib/ops/elementwise/silu.hpp"

#include "tests/ops/op_bed.hpp"

using namespace biogpu;
using test::Bed;
using test::Pair;

TEST_CASE("ops.silu: numbers of either sign, to any type", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const bool to_operand = GENERATE(false, true);
  std::vector<float> values(31 * 33);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) * 0.02f - 10;
  const Pair x = bed.pair({31, 33}, values, false), out = bed.unset({31, 33}, to_operand);
  ops::silu(bed.reference(), {x.host, out.host});
  ops::silu(bed.device(), {x.device, out.device});
  CHECK(bed.difference(out) < (to_operand ? 2 * bed.operand_bound() : 2e-6));
}

TEST_CASE("ops.silu: numbers whose exponential is none", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const Pair x = bed.pair({1, 4}, {-1000, -90, 90, 1000}, false), out = bed.unset({1, 4}, false);
  ops::silu(bed.device(), {x.device, out.device});
  const std::vector<float> got = bed.fetch(out.device);
  CHECK((std::fabs(got[0]) < 1e-30f && std::fabs(got[1]) < 1e-30f));
  CHECK((got[2] == 90 && got[3] == 1000));
}
