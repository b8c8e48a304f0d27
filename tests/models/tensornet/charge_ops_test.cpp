#include "lib/models/tensornet/ops/charge_ops.hpp"

#include "tests/ops/finite_differences.hpp"
#include "tests/ops/neighbours/edge_bed.hpp"

using namespace biogpu;
using namespace biogpu::models;
using test::Bed;
using test::Doubles;
using test::Pair;

// Bounds are relative to the root mean square of what is right, which its largest number exceeds 3
// to 8 times; a rounding to fp32 is 6e-8 of a number. One or two roundings: 1e-6. Norms and
// gates of up to nine products: 3e-6. Sums over the tens of atoms of a system or numbers of a row:
// 5e-6, and products of two such sums: 1e-5. In fp64, central differences leave 1e-9 of a gradient
// (finite_differences.hpp): 1e-8, and 1e-7 where the damping bends.

TEST_CASE("tensornet.charge_features: I and two norms, and their gradient", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t d = GENERATE(1, 6, 33);
  const Pair x = bed.random({9, 21, d}, 1, false), out = bed.unset({21, 3 * d}, false);
  const Pair d_out = bed.random({21, 3 * d}, 1, false), d_x = bed.random({9, 21, d}, 1, false);
  tensornet::charge_features(bed.reference(), {x.host, out.host});
  tensornet::charge_features(bed.device(), {x.device, out.device});
  CHECK(bed.difference(out) < 3e-6);
  tensornet::charge_features_grad(bed.reference(), {x.host, d_out.host, d_x.host});
  tensornet::charge_features_grad(bed.device(), {x.device, d_out.device, d_x.device});
  CHECK(bed.difference(d_x) < 3e-6);
}

TEST_CASE("tensornet.charge_features_grad: agrees with finite differences", "[ops]") {
  Doubles x({9, 2, 3}, 1, 1), out({2, 9}, 0, 0), d_out({2, 9}, 1, 2), d_x({9, 2, 3}, 0, 0);
  const auto loss = [&] {
    tensornet::charge_features_ref({x.tensor(), out.tensor()});
    return test::dot(out.values, d_out.values);
  };
  tensornet::charge_features_grad_ref({x.tensor(), d_out.tensor(), d_x.tensor()});
  CHECK(test::gradient_error(x.values, d_x.values, loss) < 1e-8);
}

TEST_CASE("tensornet.charge_balance: charges of a system have its total", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t n_kinds = GENERATE(1, 8);
  const test::Indices starts = bed.indices({0, 9, 10, 80});
  std::vector<float> totals(80);
  for (std::size_t i = 0; i < 80; ++i) totals[i] = i < 9 ? 1.0f : i < 10 ? 0.0f : -2.0f;
  const Pair total = bed.pair({80}, totals, false);
  const Pair x = bed.random({80, 2 * n_kinds}, 1, false), out = bed.unset({80, n_kinds}, false);
  tensornet::charge_balance(bed.reference(), {x.host, total.host, starts.host, out.host});
  tensornet::charge_balance(bed.device(), {x.device, total.device, starts.device, out.device});
  CHECK(bed.difference(out) < 5e-6);
  const std::vector<float> got = bed.fetch(out.device);
  double sum = 0;
  for (std::size_t i = 0; i < 9; ++i)
    sum += static_cast<double>(got[i * static_cast<std::size_t>(n_kinds)]);
  CHECK(std::fabs(sum - 1) < 1e-4);  // of nine charges of the size of 1, rounded: 1e-6 each
  const Pair d_out = bed.random({80, n_kinds}, 1, false), d_x = bed.unset({80, 2 * n_kinds}, false);
  tensornet::charge_balance_grad(bed.reference(),
                                 {x.host, total.host, starts.host, d_out.host, d_x.host});
  tensornet::charge_balance_grad(bed.device(),
                                 {x.device, total.device, starts.device, d_out.device, d_x.device});
  CHECK(bed.difference(d_x) < 1e-5);
}

TEST_CASE("tensornet.charge_balance_grad: agrees with finite differences", "[ops]") {
  Doubles x({7, 6}, 1, 1), total({7}, 0, 0), out({7, 3}, 0, 0), d_out({7, 3}, 1, 2), d_x = x;
  for (std::size_t i = 0; i < 4; ++i) total.values[i] = 2;
  std::vector<std::int32_t> starts{0, 4, 7};
  const tensor::Tensor at(starts.data(), tensor::DType::i32, {3});
  const auto loss = [&] {
    tensornet::charge_balance_ref({x.tensor(), total.tensor(), at, out.tensor()});
    return test::dot(out.values, d_out.values);
  };
  tensornet::charge_balance_grad_ref(
      {x.tensor(), total.tensor(), at, d_out.tensor(), d_x.tensor()});
  CHECK(test::gradient_error(x.values, d_x.values, loss) < 1e-8);
}

TEST_CASE("tensornet.coulomb: energies of pairs, and what charges and distances get back",
          "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t n_kinds = GENERATE(1, 6, 40);
  const double cutoff = GENERATE(0.0, 6.5);
  const test::Molecules molecules = test::make_molecules(bed, {9, 1, 60}, 6);
  const test::EdgesPair edges = test::list_edges(bed, molecules, 6.5f, false);
  const Pair charges = bed.random({70, n_kinds}, 1, false),
             weights = bed.random({n_kinds}, 1, false);
  const Pair out = bed.random({70, 8}, 1, false), d_charges = bed.unset({70, n_kinds}, false);
  const Pair d_distance = bed.unset({edges.host.capacity()}, false);
  tensornet::coulomb(bed.reference(), {charges.host, weights.host, &edges.host, cutoff, out.host});
  tensornet::coulomb(bed.device(),
                     {charges.device, weights.device, &edges.device, cutoff, out.device});
  // Sums over tens of neighbours and up to 40 kinds, of both signs; and 1 / distance and its slope,
  // which near atoms make large.
  CHECK(bed.difference(out) < 2e-5);
  tensornet::coulomb_grad(bed.reference(), {charges.host, weights.host, &edges.host, cutoff,
                                            d_charges.host, d_distance.host});
  tensornet::coulomb_grad(bed.device(), {charges.device, weights.device, &edges.device, cutoff,
                                         d_charges.device, d_distance.device});
  CHECK(bed.difference(d_charges) < 2e-5);
  CHECK(bed.difference(d_distance) < 5e-5);
}

TEST_CASE("tensornet.coulomb_grad: agrees with finite differences", "[ops]") {
  const double cutoff = GENERATE(0.0, 6.5);
  Doubles charges({3, 2}, 1, 1), weights({2}, 1, 2), distance({6}, 0, 0), out({3, 1}, 0, 0);
  Doubles d_charges = charges, d_distance = distance;
  std::vector<std::int32_t> starts{0, 2, 4, 6}, neighbours{1, 2, 0, 2, 0, 1};
  ops::Edges edges;
  edges.starts = tensor::Tensor(starts.data(), tensor::DType::i32, {4});
  edges.neighbours = tensor::Tensor(neighbours.data(), tensor::DType::i32, {6});
  // Near, within and beyond what is damped; distances are free of one another here.
  distance.values = {0.9, 4.4, 0.95, 5.3, 4.3, 5.1};
  edges.distance = distance.tensor();
  const auto loss = [&] {
    std::fill(out.values.begin(), out.values.end(), 0.0);
    tensornet::coulomb_ref({charges.tensor(), weights.tensor(), &edges, cutoff, out.tensor()});
    return out.values[0] + out.values[1] + out.values[2];
  };
  tensornet::coulomb_grad_ref({charges.tensor(), weights.tensor(), &edges, cutoff,
                               d_charges.tensor(), d_distance.tensor()});
  CHECK(test::gradient_error(distance.values, d_distance.values, loss) < 1e-7);
  distance.values = {0.9, 4.4, 0.9, 5.3, 4.4, 5.3};  // the same both ways round
  tensornet::coulomb_grad_ref({charges.tensor(), weights.tensor(), &edges, cutoff,
                               d_charges.tensor(), d_distance.tensor()});
  CHECK(test::gradient_error(charges.values, d_charges.values, loss) < 1e-8);
}
