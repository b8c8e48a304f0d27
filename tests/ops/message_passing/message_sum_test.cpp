#include "lib/ops/message_passing/message_sum.hpp"

#include "tests/ops/neighbours/edge_bed.hpp"

using namespace biogpu;
using test::Bed;
using test::Pair;

TEST_CASE("ops.message_sum: weighted neighbours of one part and of tensors", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t n_numbers = GENERATE(1, 9), d = GENERATE(1, 7, 32);
  const test::Molecules m = test::make_molecules(bed, {1, 40, 0, 23}, 9);
  const test::EdgesPair edges = test::list_edges(bed, m, 4.5f, true);
  const std::int64_t n_parts = n_numbers == 1 ? 1 : 3;
  const Pair x = bed.random({n_numbers, 64, d}, 1, false);
  const Pair weights = bed.random({edges.host.capacity(), n_parts, d}, 1, false);
  const Pair out = bed.unset({n_numbers, 64, d}, false);
  ops::message_sum(bed.reference(), {x.host, weights.host, &edges.host, out.host});
  ops::message_sum(bed.device(), {x.device, weights.device, &edges.device, out.device});
  CHECK(bed.difference(out) < 4e-6);
}

TEST_CASE("ops.message_sum: each part of a tensor has its weights", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const test::Molecules m = test::make_molecules(bed, {1}, 1);
  const test::EdgesPair edges = test::list_edges(bed, m, 4.5f, true);  // the atom itself
  const Pair x = bed.pair({9, 1, 1}, {1, 2, 3, 4, 5, 6, 7, 8, 9}, false);
  const Pair weights = bed.pair({1, 3, 1}, {10, 100, 1000}, false);
  const Pair out = bed.unset({9, 1, 1}, false);
  ops::message_sum(bed.device(), {x.device, weights.device, &edges.device, out.device});
  CHECK(bed.fetch(out.device) ==
        std::vector<float>{10, 200, 300, 400, 5000, 6000, 7000, 8000, 9000});
}
