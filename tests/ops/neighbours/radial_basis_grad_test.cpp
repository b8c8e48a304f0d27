#include "lib/ops/neighbours/radial_basis_grad.hpp"

#include "lib/ops/neighbours/radial_basis.hpp"
#include "tests/ops/finite_differences.hpp"
#include "tests/ops/neighbours/radial_targets.hpp"

using namespace biogpu;
using test::Bed;
using test::Doubles;
using test::Pair;

TEST_CASE("ops.radial_basis_grad: slopes of all functions at a distance", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t n_functions = GENERATE(1, 6, 32, 33);
  const std::vector<float> all = test::distances();
  const auto n = static_cast<std::int64_t>(all.size());
  const Pair distance = bed.pair({n}, all, false);
  const Pair means = bed.pair({n_functions}, test::radial_means(n_functions), false);
  const Pair betas = bed.pair({n_functions}, test::radial_betas(n_functions), false);
  const Pair d_out = bed.random({n, n_functions}, 1, false), d_distance = bed.unset({n}, false);
  ops::radial_basis_grad(bed.reference(), {distance.host, means.host, betas.host, test::kLower,
                                           test::kUpper, d_out.host, d_distance.host});
  ops::radial_basis_grad(bed.device(), {distance.device, means.device, betas.device, test::kLower,
                                        test::kUpper, d_out.device, d_distance.device});
  CHECK(bed.difference(d_distance) < 1e-5);
}

TEST_CASE("ops.radial_basis_grad: agrees with finite differences", "[ops]") {
  Doubles distance({20}, 0, 0), means({6}, 0, 0), betas({6}, 0, 0);
  for (std::size_t i = 0; i < 20; ++i) distance.values[i] = 0.1 + 0.3 * static_cast<double>(i);
  for (std::size_t k = 0; k < 6; ++k) {
    means.values[k] = test::radial_means(6)[k];
    betas.values[k] = test::radial_betas(6)[k];
  }
  Doubles out({20, 6}, 0, 0), d_out({20, 6}, 1, 2), d_distance({20}, 0, 0);
  const auto loss = [&] {
    ops::radial_basis_ref({distance.tensor(), means.tensor(), betas.tensor(), test::kLower,
                           test::kUpper, out.tensor()});
    return test::dot(out.values, d_out.values);
  };
  ops::radial_basis_grad_ref({distance.tensor(), means.tensor(), betas.tensor(), test::kLower,
                              test::kUpper, d_out.tensor(), d_distance.tensor()});
  CHECK(test::gradient_error(distance.values, d_distance.values, loss) < 1e-7);
}
