#include "lib/ops/cartesian_tensor/tensor_embed.hpp"

#include "tests/ops/neighbours/edge_bed.hpp"

using namespace biogpu;
using test::Bed;
using test::Pair;

TEST_CASE("ops.tensor_embed: tensors out of the directions of edges", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t d = GENERATE(1, 6, 33);
  const test::Molecules m = test::make_molecules(bed, {1, 30, 0, 12}, 8);
  const test::EdgesPair edges = test::list_edges(bed, m, 4.5f, true);
  const Pair weights = bed.random({edges.host.capacity(), 3, d}, 1, false);
  const Pair out = bed.unset({9, 43, d}, false);
  ops::tensor_embed(bed.reference(), {weights.host, &edges.host, out.host});
  ops::tensor_embed(bed.device(), {weights.device, &edges.device, out.device});
  CHECK(bed.difference(out) < 3e-6);
}

TEST_CASE("ops.tensor_embed: one edge by hand", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  test::Molecules m;
  m.segments = bed.segments({2});
  m.positions = bed.pair({2, 3}, {2, 3, 6, 2, 1, 6}, false);  // u = 0 1 0 for the first
  const test::EdgesPair edges = test::list_edges(bed, m, 4.5f, false);
  const Pair weights = bed.pair({2, 3, 1}, {5, 7, 9, 1, 1, 1}, false);
  const Pair out = bed.unset({9, 2, 1}, false);
  ops::tensor_embed(bed.device(), {weights.device, &edges.device, out.device});
  std::vector<float> first;
  const std::vector<float> got = bed.fetch(out.device);
  for (std::size_t c = 0; c < 9; ++c) first.push_back(got[2 * c]);
  const std::vector<float> expected{5, 0, 7, 0, -3, 0, 0, 6, 0};
  for (std::size_t c = 0; c < 9; ++c) CHECK(std::fabs(first[c] - expected[c]) < 1e-6f);
}
