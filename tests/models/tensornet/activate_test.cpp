#include "lib/models/tensornet/ops/activate.hpp"

#include "tests/ops/finite_differences.hpp"
#include "tests/ops/op_bed.hpp"

using namespace biogpu;
using namespace biogpu::models;
using tensornet::Unit;
using test::Bed;
using test::Doubles;
using test::Pair;

namespace {

constexpr Unit kUnits[] = {Unit::silu, Unit::shifted_softplus, Unit::tanh, Unit::sigmoid,
                           Unit::mish};

}  // namespace

TEST_CASE("tensornet.activate: values and slopes at numbers of either sign", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t d = GENERATE(1, 5, 17, 33);
  std::vector<float> values(static_cast<std::size_t>(31 * d));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = (static_cast<float>(i) / static_cast<float>(values.size()) - 0.5f) * 24;
  const Pair x = bed.pair({31, d}, values, false), d_out = bed.random({31, d}, 1, false);
  const Pair out = bed.unset({31, d}, false), d_x = bed.unset({31, d}, false);
  for (const Unit unit : kUnits) {
    tensornet::activate(bed.reference(), {x.host, unit, out.host});
    tensornet::activate(bed.device(), {x.device, unit, out.device});
    CHECK(bed.difference(out) < 1e-6);
    tensornet::activate_grad(bed.reference(), {x.host, unit, d_out.host, d_x.host});
    tensornet::activate_grad(bed.device(), {x.device, unit, d_out.device, d_x.device});
    CHECK(bed.difference(d_x) < 3e-6);
  }
}

TEST_CASE("tensornet.activate: numbers whose exponential is none", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const Pair x = bed.pair({1, 4}, {-1000, -90, 90, 1000}, false);
  const Pair ones = bed.pair({1, 4}, {1, 1, 1, 1}, false), out = bed.unset({1, 4}, false);
  for (const Unit unit : kUnits) {
    tensornet::activate(bed.device(), {x.device, unit, out.device});
    for (const float y : bed.fetch(out.device)) CHECK(std::fabs(y) <= 1000);
    tensornet::activate_grad(bed.device(), {x.device, unit, ones.device, out.device});
    const std::vector<float> slopes = bed.fetch(out.device);
    const bool saturates = unit == Unit::tanh || unit == Unit::sigmoid;
    CHECK((std::fabs(slopes[0]) < 1e-30f && std::fabs(slopes[1]) < 1e-30f));
    for (const int i : {2, 3}) CHECK(slopes[static_cast<std::size_t>(i)] == (saturates ? 0 : 1));
  }
}

TEST_CASE("tensornet.activate_grad: agrees with finite differences", "[ops]") {
  for (const Unit unit : kUnits) {
    Doubles x({4, 5}, 2, 1), out({4, 5}, 0, 0), d_out({4, 5}, 1, 2), d_x = out;
    const auto loss = [&] {
      tensornet::activate_ref({x.tensor(), unit, out.tensor()});
      return test::dot(out.values, d_out.values);
    };
    tensornet::activate_grad_ref({x.tensor(), unit, d_out.tensor(), d_x.tensor()});
    CHECK(test::gradient_error(x.values, d_x.values, loss) < 1e-8);
  }
}
