#include "lib/models/tensornet/ops/edge_ops.hpp"

#include "tests/ops/finite_differences.hpp"
#include "tests/ops/neighbours/edge_bed.hpp"

using namespace biogpu;
using namespace biogpu::models;
using test::Bed;
using test::Doubles;
using test::Pair;

// Bounds are relative to the root mean square of what is right, which its largest number exceeds 3
// to 8 times; a rounding to fp32 is 6e-8 of a number. One or two roundings: 1e-6. Sums over
// tens of edges: 5e-6. In fp64, central differences leave 1e-9 of a gradient
// (finite_differences.hpp): 1e-8.

namespace {

// Distances below, at, inside and at the end of a table from 0.5 to 4.5.
std::vector<float> distances() {
  std::vector<float> all{0, 0.499f, 0.5f, 4.5f, 4.4999f};
  for (int i = 0; i < 60; ++i) all.push_back(0.5f + 0.0663f * static_cast<float>(i));
  return all;
}

}  // namespace

TEST_CASE("tensornet.radial_table: cubic polynomials of intervals, and their slopes", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t n_functions = GENERATE(1, 6, 32, 99);
  const auto n = static_cast<std::int64_t>(distances().size());
  const Pair distance = bed.pair({n}, distances(), false);
  const Pair table = bed.random({13, 4, n_functions}, 1, false);
  const Pair out = bed.unset({n, n_functions}, false);
  tensornet::radial_table(bed.reference(), {distance.host, table.host, 0.5f, 4.5f, out.host});
  tensornet::radial_table(bed.device(), {distance.device, table.device, 0.5f, 4.5f, out.device});
  CHECK(bed.difference(out) < 2e-5);  // a rounding of the distance is one of the place
  CHECK(bed.fetch(out.device)[0] == 0);
  CHECK(bed.fetch(out.device)[static_cast<std::size_t>(n_functions)] == 0);
  CHECK(bed.fetch(out.device)[static_cast<std::size_t>(2 * n_functions)] != 0);

  const bool adds = GENERATE(false, true);
  const Pair d_out = bed.random({n, n_functions}, 1, false), d_distance = bed.unset({n}, false);
  const Pair previous = adds ? bed.random({n}, 5, false) : Pair();
  tensornet::radial_table_grad(bed.reference(), {distance.host, table.host, 0.5f, 4.5f, d_out.host,
                                                 previous.host, d_distance.host});
  tensornet::radial_table_grad(bed.device(), {distance.device, table.device, 0.5f, 4.5f,
                                              d_out.device, previous.device, d_distance.device});
  // The same of slopes, which change faster within an interval, over up to 99 functions.
  CHECK(bed.difference(d_distance) < 5e-5);
}

TEST_CASE("tensornet.radial_table_grad: agrees with finite differences", "[ops]") {
  Doubles distance({20}, 0, 0), table({5, 4, 3}, 1, 1), out({20, 3}, 0, 0), d_out({20, 3}, 1, 2);
  Doubles d_distance({20}, 0, 0);
  for (std::size_t i = 0; i < 20; ++i) distance.values[i] = 0.53 + 0.19 * static_cast<double>(i);
  const auto loss = [&] {
    tensornet::radial_table_ref({distance.tensor(), table.tensor(), 0.5f, 4.5f, out.tensor()});
    return test::dot(out.values, d_out.values);
  };
  tensornet::radial_table_grad_ref(
      {distance.tensor(), table.tensor(), 0.5f, 4.5f, d_out.tensor(), {}, d_distance.tensor()});
  CHECK(test::gradient_error(distance.values, d_distance.values, loss) < 1e-8);
}

TEST_CASE("tensornet.edge_virial: displacements times gradients over an atom's edges", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const test::Molecules molecules = test::make_molecules(bed, {9, 1, 50}, 6);
  const test::EdgesPair edges = test::list_edges(bed, molecules, 4, true);
  const std::int64_t n = edges.host.capacity();
  const Pair d_distance = bed.random({n}, 1, false), d_displacement = bed.random({n, 3}, 1, false);
  const Pair out = bed.unset({60, 9}, false);
  tensornet::edge_virial(bed.reference(),
                         {&edges.host, d_distance.host, d_displacement.host, out.host});
  tensornet::edge_virial(bed.device(),
                         {&edges.device, d_distance.device, d_displacement.device, out.device});
  CHECK(bed.difference(out) < 5e-6);
}
