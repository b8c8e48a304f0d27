#include "lib/ops/message_passing/pair_add.hpp"

#include "tests/ops/neighbours/edge_bed.hpp"
#include "tests/ops/op_bed.hpp"
#include "tests/ops/widths/sweep.hpp"

using namespace biogpu;
using test::Bed;
using test::Pair;

// Two roundings to fp32, relative to the root mean square of what is right: 1e-6.

namespace {

const test::WidthSweepEntry kPairAddWidths("pair_add", [](Bed& bed, std::int64_t d) {
  const test::Molecules atoms = test::make_molecules(bed, {1, 12, 8}, 6);
  const test::EdgesPair edges = test::list_edges(bed, atoms, 4.5f, true);
  const std::int64_t n_edges = edges.host.capacity();
  const Pair x = bed.random({n_edges, d}, 1, false),
             receiver = bed.random({std::int64_t{21}, d}, 1, false),
             neighbour = bed.random({std::int64_t{21}, d}, 1, false),
             out = bed.unset({n_edges, d}, false);
  test::compare(bed, {{out, 2e-5}}, [&](tensor::Context& context, const auto& of) {
    ops::pair_add(context, {of(x), of(receiver), of(neighbour), &of(edges), of(out)});
  });
});

}  // namespace

TEST_CASE("ops.pair_add: rows of both atoms are added to an edge", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t d = GENERATE(1, 6, 33);
  const test::Molecules molecules = test::make_molecules(bed, {9, 1, 14}, 6);
  const test::EdgesPair edges = test::list_edges(bed, molecules, 4, true);
  const std::int64_t n = edges.host.capacity();
  const Pair x = bed.random({n, d}, 1, false), receiver = bed.random({24, d}, 1, false),
             neighbour = bed.random({24, d}, 1, false), out = bed.unset({n, d}, false);
  ops::pair_add(bed.reference(), {x.host, receiver.host, neighbour.host, &edges.host, out.host});
  ops::pair_add(bed.device(),
                {x.device, receiver.device, neighbour.device, &edges.device, out.device});
  CHECK(bed.difference(out) < 1e-6);
}
