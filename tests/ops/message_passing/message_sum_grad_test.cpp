#include "lib/ops/message_passing/message_sum_grad.hpp"

#include "lib/ops/message_passing/message_sum.hpp"
#include "tests/ops/finite_differences.hpp"
#include "tests/ops/neighbours/edge_bed.hpp"

using namespace biogpu;
using test::Bed;
using test::Doubles;
using test::Pair;

TEST_CASE("ops.message_sum_grad: what weights and neighbours get back", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t n_numbers = GENERATE(1, 9), d = GENERATE(1, 7, 32);
  const test::Molecules m = test::make_molecules(bed, {1, 40, 0, 23}, 9);
  const test::EdgesPair edges = test::list_edges(bed, m, 4.5f, true);
  const std::int64_t n_parts = n_numbers == 1 ? 1 : 3, n_edges = edges.host.capacity();
  const Pair x = bed.random({n_numbers, 64, d}, 1, false);
  const Pair weights = bed.random({n_edges, n_parts, d}, 1, false);
  const Pair d_out = bed.random({n_numbers, 64, d}, 1, false);
  const Pair d_weights = bed.unset({n_edges, n_parts, d}, false);
  const Pair d_x = bed.unset({n_numbers, 64, d}, false);
  ops::message_sum_grad(bed.reference(),
                        {x.host, weights.host, &edges.host, d_out.host, d_weights.host, d_x.host});
  ops::message_sum_grad(bed.device(), {x.device, weights.device, &edges.device, d_out.device,
                                       d_weights.device, d_x.device});
  CHECK(bed.difference(d_weights) < 4e-6);
  CHECK(bed.difference(d_x) < 4e-6);
}

TEST_CASE("ops.message_sum_grad: agrees with finite differences", "[ops]") {
  Bed bed(test::subjects().front());
  const std::int64_t n_numbers = GENERATE(1, 9);
  const test::Molecules m = test::make_molecules(bed, {9}, 7);
  const ops::Edges edges = test::list_edges(bed, m, 4.5f, true).host;
  const std::int64_t n_parts = n_numbers == 1 ? 1 : 3, d = 2;
  Doubles x({n_numbers, 9, d}, 1, 1), weights({edges.capacity(), n_parts, d}, 1, 2);
  Doubles out({n_numbers, 9, d}, 0, 0), d_out({n_numbers, 9, d}, 1, 3);
  Doubles d_x = x, d_weights = weights;
  const auto loss = [&] {
    ops::message_sum_ref({x.tensor(), weights.tensor(), &edges, out.tensor()});
    return test::dot(out.values, d_out.values);
  };
  ops::message_sum_grad_ref(
      {x.tensor(), weights.tensor(), &edges, d_out.tensor(), d_weights.tensor(), d_x.tensor()});
  CHECK(test::gradient_error(x.values, d_x.values, loss) < 1e-8);
  CHECK(test::gradient_error(weights.values, d_weights.values, loss) < 1e-8);
}
