#include "lib/ops/neighbours/neighbour_list_grad.hpp"

#include "tests/ops/finite_differences.hpp"
#include "tests/ops/neighbours/edge_bed.hpp"

using namespace biogpu;
using test::Bed;
using test::Doubles;
using test::Pair;

namespace {

// The edges of fp64 positions, in memory of doubles.
struct EdgesOfDoubles {
  Doubles displacement, distance;
  ops::Edges edges;

  explicit EdgesOfDoubles(const ops::Edges& like)
      : displacement({like.capacity(), 3}, 0, 0), distance({like.capacity()}, 0, 0), edges(like) {
    edges.displacement = displacement.tensor();
    edges.distance = distance.tensor();
  }
};

}  // namespace

TEST_CASE("ops.neighbour_list_grad: positions get back what their edges do", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const bool by_distance = GENERATE(false, true), by_displacement = GENERATE(false, true);
  const test::Molecules m = test::make_molecules(bed, {1, 90, 0, 40}, 9);
  const test::EdgesPair edges = test::list_edges(bed, m, 4.5f, true);
  const std::int64_t n = edges.host.capacity();
  const Pair d_distance = by_distance ? bed.random({n}, 1, false) : Pair();
  const Pair d_displacement = by_displacement ? bed.random({n, 3}, 1, false) : Pair();
  const Pair d_positions = bed.unset({m.n_atoms(), 3}, false);
  ops::neighbour_list_grad(bed.reference(),
                           {&edges.host, d_distance.host, d_displacement.host, d_positions.host});
  ops::neighbour_list_grad(
      bed.device(), {&edges.device, d_distance.device, d_displacement.device, d_positions.device});
  if (!by_distance && !by_displacement) {
    CHECK(bed.fetch(d_positions.device) == std::vector<float>(d_positions.values.size(), 0.0f));
  } else {
    CHECK(bed.difference(d_positions) < 4e-6);
  }
}

TEST_CASE("ops.neighbour_list_grad: agrees with finite differences, in a box too", "[ops]") {
  Bed bed(test::subjects().front());
  const bool in_box = GENERATE(false, true);
  const test::Molecules m =
      test::make_molecules(bed, {12}, in_box ? 30 : 7, in_box ? test::kBox : std::vector<float>());
  EdgesOfDoubles made(test::list_edges(bed, m, 5.0f, true).host);
  const std::int64_t n = made.edges.capacity();
  Doubles positions({12, 3}, 0, 0), boxes({1, 9}, 0, 0), d_positions({12, 3}, 0, 0);
  std::copy_n(m.positions.values.begin(), 36, positions.values.begin());
  if (in_box) std::copy_n(test::kBox.begin(), 9, boxes.values.begin());
  Doubles d_distance({n}, 1, 1), d_displacement({n, 3}, 1, 2);
  // No pair is so near the cutoff that a step moves it across.
  const auto loss = [&] {
    ops::neighbour_list_ref(
        {positions.tensor(), &m.segments.host, boxes.tensor(), 0, 5.0f, true, made.edges});
    return test::dot(made.distance.values, d_distance.values) +
           test::dot(made.displacement.values, d_displacement.values);
  };
  loss();
  CHECK(*made.edges.count.as<std::int32_t>() == n);
  ops::neighbour_list_grad_ref(
      {&made.edges, d_distance.tensor(), d_displacement.tensor(), d_positions.tensor()});
  CHECK(test::gradient_error(positions.values, d_positions.values, loss) < 1e-8);
}
