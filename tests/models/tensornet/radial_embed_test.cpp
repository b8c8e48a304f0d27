#include "lib/models/tensornet/ops/radial_embed.hpp"

#include "tests/ops/finite_differences.hpp"
#include "tests/ops/neighbours/edge_bed.hpp"

using namespace biogpu;
using models::tensornet::RadialEmbed;
using models::tensornet::RadialEmbedGrad;
using test::Bed;
using test::Doubles;
using test::Pair;

// Bounds are relative to the root mean square of what is right; see edge_ops_test.cpp.

namespace {

constexpr float kLower = 0.5f, kCutoff = 4.5f;
constexpr std::int64_t kTypes = 5;

test::Indices make_types(Bed& bed, std::int64_t n_atoms) {
  std::vector<std::int32_t> types;
  for (std::int64_t i = 0; i < n_atoms; ++i) types.push_back(static_cast<std::int32_t>(i % kTypes));
  return bed.indices(types);
}

}  // namespace

TEST_CASE("tensornet.radial_embed: tensors out of edges, and the gradient", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t d = GENERATE(1, 6, 36, 132), n_atoms = 43;
  const test::Molecules m = test::make_molecules(bed, {1, 30, 0, 12}, 8);
  // Atoms with themselves are below the table's range.
  const test::EdgesPair edges = test::list_edges(bed, m, kCutoff, true, 7);
  const std::int64_t n = edges.host.capacity();
  const test::Indices types = make_types(bed, n_atoms);
  const Pair table = bed.random({13, 4, 3 * d}, 1, false),
             receiver = bed.random({kTypes, d}, 1, false),
             neighbour = bed.random({kTypes, d}, 1, false), out = bed.unset({9, n_atoms, d}, false);
  const RadialEmbed host{&edges.host,   table.host,     kLower,     kCutoff,
                         receiver.host, neighbour.host, types.host, out.host};
  const RadialEmbed device{&edges.device,   table.device,     kLower,       kCutoff,
                           receiver.device, neighbour.device, types.device, out.device};
  models::tensornet::radial_embed(bed.reference(), host);
  models::tensornet::radial_embed(bed.device(), device);
  CHECK(bed.difference(out) < 2e-5);  // a rounding of the distance is one of the place

  const bool adds = GENERATE(false, true);
  const Pair d_out = bed.random({9, n_atoms, d}, 1, false);
  const Pair previous = adds ? bed.random({n}, 5, false) : Pair();
  Pair d_distance = bed.unset({n}, false), d_r = bed.unset({n, 3}, false);
  models::tensornet::radial_embed_grad(
      bed.reference(), {host, d_out.host, previous.host, d_distance.host, d_r.host});
  models::tensornet::radial_embed_grad(
      bed.device(), {device, d_out.device, previous.device, d_distance.device, d_r.device});
  const std::int64_t count = n - 7;  // pads may hold anything
  for (Pair* const pair : {&d_distance, &d_r}) {
    pair->host = pair->host.slice(0, 0, count);
    pair->device = pair->device.slice(0, 0, count);
  }
  CHECK(bed.difference(d_distance) < 5e-5);
  CHECK(bed.difference(d_r) < 5e-5);  // differences of numbers that are as large, over distances
}

TEST_CASE("tensornet.radial_embed: an atom with itself where the table begins at 0", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  test::Molecules m;
  m.segments = bed.segments({2});
  m.positions = bed.pair({2, 3}, {2, 3, 6, 2, 1, 6}, false);  // u = 0 1 0 for the first
  const test::EdgesPair edges = test::list_edges(bed, m, kCutoff, true);
  const test::Indices types = bed.indices({0, 1});
  // Constant functions 5, 7 and 9; factors 1 + 3 of an atom of type 0 with itself, 1 + 4 with one
  // of type 1.
  const Pair table = bed.pair({1, 4, 3}, {5, 7, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0}, false);
  const Pair receiver = bed.pair({2, 1}, {1, 2}, false),
             neighbour = bed.pair({2, 1}, {3, 4}, false);
  const Pair out = bed.unset({9, 2, 1}, false);
  models::tensornet::radial_embed(
      bed.device(), {&edges.device, table.device, 0, kCutoff, receiver.device, neighbour.device,
                     types.device, out.device});
  const std::vector<float> got = bed.fetch(out.device);
  const std::vector<float> expected{45, 0, 35, 0, -15, 0, 0, 30, 0};
  for (std::size_t c = 0; c < 9; ++c) CHECK(std::fabs(got[2 * c] - expected[c]) < 1e-5f);
}

TEST_CASE("tensornet.radial_embed_grad: agrees with finite differences", "[ops]") {
  Bed bed(test::subjects().front());
  const test::Molecules m = test::make_molecules(bed, {7}, 7);
  ops::Edges edges = test::list_edges(bed, m, kCutoff, true).host;
  const std::int64_t n = edges.capacity(), d = 2;
  const test::Indices types = make_types(bed, 7);
  Doubles r({n, 3}, 0, 0), distance({n}, 0, 0), table({1, 4, 3 * d}, 1, 1),
      receiver({kTypes, d}, 1, 2), neighbour({kTypes, d}, 1, 3);
  std::copy_n(edges.displacement.as<float>(), 3 * n, r.values.begin());
  edges.displacement = r.tensor(), edges.distance = distance.tensor();
  Doubles out({9, 7, d}, 0, 0), d_out({9, 7, d}, 1, 4), d_distance({n}, 0, 0), d_r = r;
  const RadialEmbed op{&edges,     table.tensor(),    0,
                       kCutoff,    receiver.tensor(), neighbour.tensor(),
                       types.host, out.tensor()};
  const auto set_distances = [&] {
    for (std::size_t e = 0; e < static_cast<std::size_t>(n); ++e)
      distance.values[e] = std::hypot(r.values[3 * e], r.values[3 * e + 1], r.values[3 * e + 2]);
  };
  const auto loss = [&] {
    set_distances();
    models::tensornet::radial_embed_ref(op);
    return test::dot(out.values, d_out.values);
  };
  set_distances();
  models::tensornet::radial_embed_grad_ref(
      {op, d_out.tensor(), {}, d_distance.tensor(), d_r.tensor()});
  // An atom with itself has no direction, and none that a step may give it.
  const Doubles start = r;
  std::vector<double> gradient;
  std::vector<std::size_t> at;
  for (std::size_t k = 0; k < r.values.size(); ++k) {
    const double length = distance.values[k / 3];
    if (length == 0) continue;
    at.push_back(k);
    gradient.push_back(d_r.values[k] + d_distance.values[k / 3] * r.values[k] / length);
  }
  std::vector<double> moves(at.size());
  const auto loss_of_moves = [&] {
    for (std::size_t k = 0; k < at.size(); ++k) r.values[at[k]] = start.values[at[k]] + moves[k];
    return loss();
  };
  CHECK(test::gradient_error(moves, gradient, loss_of_moves) < 1e-7);
}
