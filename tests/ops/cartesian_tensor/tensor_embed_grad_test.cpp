#include "lib/ops/cartesian_tensor/tensor_embed_grad.hpp"

#include "lib/ops/cartesian_tensor/tensor_embed.hpp"
#include "tests/ops/finite_differences.hpp"
#include "tests/ops/neighbours/edge_bed.hpp"

using namespace biogpu;
using test::Bed;
using test::Doubles;
using test::Pair;

TEST_CASE("ops.tensor_embed_grad: what weights and displacements get back", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t d = GENERATE(1, 6, 33);
  const test::Molecules m = test::make_molecules(bed, {1, 30, 0, 12}, 12);
  const test::EdgesPair edges = test::list_edges(bed, m, 4.5f, true);
  const std::int64_t n = edges.host.capacity();
  const Pair weights = bed.random({n, 3, d}, 1, false), d_out = bed.random({9, 43, d}, 1, false);
  const Pair d_weights = bed.unset({n, 3, d}, false), d_r = bed.unset({n, 3}, false);
  ops::tensor_embed_grad(bed.reference(),
                         {weights.host, &edges.host, d_out.host, d_weights.host, d_r.host});
  ops::tensor_embed_grad(
      bed.device(), {weights.device, &edges.device, d_out.device, d_weights.device, d_r.device});
  CHECK(bed.difference(d_weights) < 3e-6);
  CHECK(bed.difference(d_r) < 3e-5);  // differences of numbers that are as large, over distances
}

TEST_CASE("ops.tensor_embed_grad: agrees with finite differences", "[ops]") {
  Bed bed(test::subjects().front());
  const test::Molecules m = test::make_molecules(bed, {7}, 7);
  ops::Edges edges = test::list_edges(bed, m, 4.5f, true).host;
  const std::int64_t n = edges.capacity(), d = 2;
  Doubles r({n, 3}, 0, 0), distance({n}, 0, 0), weights({n, 3, d}, 1, 1);
  std::copy_n(edges.displacement.as<float>(), 3 * n, r.values.begin());
  edges.displacement = r.tensor(), edges.distance = distance.tensor();
  Doubles out({9, 7, d}, 0, 0), d_out({9, 7, d}, 1, 2), d_weights = weights, d_r = r;
  const auto set_distances = [&] {
    for (std::size_t e = 0; e < static_cast<std::size_t>(n); ++e)
      distance.values[e] = std::hypot(r.values[3 * e], r.values[3 * e + 1], r.values[3 * e + 2]);
  };
  const auto loss = [&] {
    set_distances();
    ops::tensor_embed_ref({weights.tensor(), &edges, out.tensor()});
    return test::dot(out.values, d_out.values);
  };
  set_distances();
  ops::tensor_embed_grad_ref(
      {weights.tensor(), &edges, d_out.tensor(), d_weights.tensor(), d_r.tensor()});
  CHECK(test::gradient_error(weights.values, d_weights.values, loss) < 1e-8);
  // An atom with itself has no direction, and none that a step may give it.
  Doubles moved = r;
  std::vector<double> gradient;
  std::vector<std::size_t> at;
  for (std::size_t k = 0; k < r.values.size(); ++k)
    if (distance.values[k / 3] > 0) at.push_back(k), gradient.push_back(d_r.values[k]);
  std::vector<double> free(at.size());
  const auto loss_of_free = [&] {
    for (std::size_t k = 0; k < at.size(); ++k) r.values[at[k]] = moved.values[at[k]] + free[k];
    return loss();
  };
  CHECK(test::gradient_error(free, gradient, loss_of_free) < 1e-7);
}
