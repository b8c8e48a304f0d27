#include "apps/biogpu/infer/molecules/trajectory_totals.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tests/support/catch.hpp"

using namespace biogpu;
using app::TrajectoryTotals;
using Catch::Matchers::WithinAbs;

namespace {

constexpr char kFrame[] = "2\nstep\nC 0 0 0\nO 0 0 1\n";

// Lines of steps 0, 10, ..., 100 of 1 fs, whose total energy grows by the slope, in eV/fs.
void add_trajectory(TrajectoryTotals& totals, int number, double slope, double temperature) {
  for (int step = 0; step <= 100; step += 10)
    totals.add(kFrame, fmt::format("{}\t{}\t{}\t0\t0\t{:.8f}\t{}\teV\n", number, step, step,
                                   -5 + slope * step, step < 10 ? 1000 : temperature));
}

}  // namespace

TEST_CASE("trajectory_totals: temperature behind the first tenth, drift per atom", "[tasks]") {
  TrajectoryTotals totals(100, true, "eV");
  add_trajectory(totals, 1, 0.002, 300);
  totals.finish();
  CHECK(totals.text() ==
        "1 trajectory to step 100; mean temperature 300 K after the first tenth; drift of the "
        "total energy 0.1 eV per atom, 1e+03 per atom and ns");
  nlohmann::ordered_json result;
  totals.add_to(result);
  CHECK(result["trajectories"] == 1);
  CHECK(result["last_step"] == 100);
  CHECK_THAT(result["mean_temperature_K"].get<double>(), WithinAbs(300, 1e-9));
  CHECK_THAT(result["drift_per_atom"].get<double>(), WithinAbs(0.1, 1e-9));
  CHECK_THAT(result["drift_per_atom_and_ns"].get<double>(), WithinAbs(1000, 1e-4));
}

TEST_CASE("trajectory_totals: the largest drift of several trajectories", "[tasks]") {
  TrajectoryTotals totals(100, true, "eV");
  add_trajectory(totals, 1, 0.001, 200);
  add_trajectory(totals, 2, -0.004, 400);
  add_trajectory(totals, 3, 0.002, 300);
  totals.finish();
  CHECK(totals.text() ==
        "3 trajectories to step 100; mean temperature 300 K after the first tenth; largest drift "
        "of the total energy -0.2 eV per atom, -2e+03 per atom and ns");
}

TEST_CASE("trajectory_totals: no drift with a thermostat, of one frame or of none", "[tasks]") {
  TrajectoryTotals bath(100, false, "eV");
  add_trajectory(bath, 1, 0.002, 300);
  bath.finish();
  CHECK(bath.text() == "1 trajectory to step 100; mean temperature 300 K after the first tenth");
  TrajectoryTotals one(0, true, "eV");
  one.add(kFrame, "1\t0\t0\t0\t0\t-5\t20\teV\n");
  one.finish();
  CHECK(one.text() == "1 trajectory to step 0; mean temperature 20 K after the first tenth");
  TrajectoryTotals none(100, true, "eV");
  none.finish();
  nlohmann::ordered_json result;
  none.add_to(result);
  CHECK(none.n_trajectories() == 0);
  CHECK(result.dump() == R"({"trajectories":0,"last_step":100})");
}

TEST_CASE("trajectory_totals: frames without atoms, several frames in a text", "[tasks]") {
  TrajectoryTotals totals(10, true, "eV");
  totals.add("0\nempty\n0\nempty\n", "1\t0\t0\t0\t0\t1\t0\teV\n1\t10\t10\t0\t0\t2\t0\teV\n");
  totals.finish();
  CHECK(totals.text() == "1 trajectory to step 10; mean temperature 0 K after the first tenth");
  TrajectoryTotals two(10, true, "eV");
  two.add(std::string(kFrame) + kFrame, "1\t0\t0\t0\t0\t1\t0\teV\n1\t10\t10\t0\t0\t2\t0\teV\n");
  two.finish();
  nlohmann::ordered_json result;
  two.add_to(result);
  CHECK_THAT(result["drift_per_atom"].get<double>(), WithinAbs(0.5, 1e-9));
}
