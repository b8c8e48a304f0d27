#include "lib/ops/gather/gather_rows.hpp"

#include "tests/ops/op_bed.hpp"

using namespace biogpu;
using test::Bed;
using test::Pair;

TEST_CASE("ops.gather_rows: rows in any order, to any type", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const bool from_operand = GENERATE(false, true), to_operand = GENERATE(false, true);
  const std::int64_t d = GENERATE(1, 33, 64);
  const Pair x = bed.random({62, d}, 2.0f, true);
  const Pair source =
      from_operand ? bed.pair({62, d}, x.values, true) : bed.pair({62, d}, x.values, false);
  const test::Indices rows = bed.indices({5, 61, 0, 5});
  const Pair out = bed.unset({4, d}, to_operand);
  ops::gather_rows(bed.reference(), {source.host, rows.host, out.host});
  ops::gather_rows(bed.device(), {source.device, rows.device, out.device});
  CHECK(bed.fetch(out.device) == out.values);
  CHECK(out.values[0] == x.values[static_cast<std::size_t>(5 * d)]);
}

TEST_CASE("ops.gather_rows: without rows, all as they are", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const Pair x = bed.random({5, 33}, 2.0f, true), out = bed.unset({5, 33}, true);
  ops::gather_rows(bed.device(), {x.device, {}, out.device});
  CHECK(bed.fetch(out.device) == x.values);
}
