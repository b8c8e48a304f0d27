#include "lib/ops/reduction/mean_pool.hpp"

#include "tests/ops/op_bed.hpp"

using namespace biogpu;
using test::Bed;
using test::Pair;

TEST_CASE("ops.mean_pool: rows of segments without some at their ends", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const int skip_begin = GENERATE(0, 1, 3), skip_end = GENERATE(0, 1);
  const test::RaggedPair segments = bed.segments({2, 41, 1, 18});
  const Pair x = bed.random({62, 33}, 2.0f, false), means = bed.unset({4, 33}, false);
  ops::mean_pool(bed.reference(), {x.host, &segments.host, skip_begin, skip_end, means.host});
  ops::mean_pool(bed.device(), {x.device, &segments.device, skip_begin, skip_end, means.device});
  CHECK(bed.difference(means) < (bed.is_cpu() ? 1e-6 : 1e-5));
  // Nothing is left of the segment of one row.
  if (skip_begin + skip_end > 0) CHECK(bed.fetch(means.device)[2 * 33] == 0.0f);
}
