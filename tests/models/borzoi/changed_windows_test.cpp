#include <memory>
#include <string>
#include <utility>

#include "lib/ops/cpu/cpu_context.hpp"
#include "tests/models/borzoi/longer.hpp"

using namespace biogpu;

TEST_CASE("borzoi.changed_windows: the bytes of a whole pass", "[borzoi][model]") {
  const std::string folder = GENERATE(test::kBorzoi, test::kFlashzoi);
  const test::LongerBorzoi longer(folder);
  test::LoadedBorzoi loaded(ops::make_cpu_context(2), longer.path());
  test::check_changed(loaded, longer.windows(), {});
}

TEST_CASE("borzoi.changed_windows: what is kept is not sent again", "[borzoi][model]") {
  const test::LongerBorzoi longer(test::kBorzoi);
  auto counting = std::make_unique<test::CountingContext>();
  test::CountingContext& context = *counting;
  test::LoadedBorzoi loaded(std::move(counting), longer.path());
  test::check_sent(loaded, context, longer.windows()[0]);
}

TEST_CASE("borzoi.changed_windows: windows that differ in much are not near", "[borzoi][model]") {
  const test::LongerBorzoi longer(test::kBorzoi);
  test::LoadedBorzoi loaded(ops::make_cpu_context(2), longer.path());
  test::check_near(loaded, longer.windows()[0], 4096);
}
