#include "lib/ops/neighbours/radial_basis.hpp"

#include "tests/ops/neighbours/radial_targets.hpp"

using namespace biogpu;
using test::Bed;
using test::Pair;

TEST_CASE("ops.radial_basis: functions of distances up to the cutoff and past it", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t n_functions = GENERATE(1, 6, 32, 33);
  const std::vector<float> all = test::distances();
  const auto n = static_cast<std::int64_t>(all.size());
  const Pair distance = bed.pair({n}, all, false);
  const Pair means = bed.pair({n_functions}, test::radial_means(n_functions), false);
  const Pair betas = bed.pair({n_functions}, test::radial_betas(n_functions), false);
  const Pair out = bed.unset({n, n_functions}, false);
  ops::radial_basis(bed.reference(),
                    {distance.host, means.host, betas.host, test::kLower, test::kUpper, out.host});
  ops::radial_basis(bed.device(), {distance.device, means.device, betas.device, test::kLower,
                                   test::kUpper, out.device});
  CHECK(bed.difference(out) < 1e-5);  // an exponential's slope: betas of 10,000
  const std::vector<float> got = bed.fetch(out.device);
  for (std::int64_t i = 3 * n_functions; i < 6 * n_functions; ++i)
    CHECK(got[static_cast<std::size_t>(i)] == 0);  // on the cutoff and past it
}

TEST_CASE("ops.radial_basis: a value by hand", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const Pair distance = bed.pair({1}, {2.5f}, false), means = bed.pair({1}, {0.25f}, false),
             betas = bed.pair({1}, {2}, false), out = bed.unset({1, 1}, false);
  ops::radial_basis(bed.device(), {distance.device, means.device, betas.device, 0, 5, out.device});
  // s = exp(-2.5), c = 1/2.
  const double off = std::exp(-2.5) - 0.25;
  CHECK(std::fabs(bed.fetch(out.device)[0] - 0.5 * std::exp(-2 * off * off)) < 1e-6);
}
