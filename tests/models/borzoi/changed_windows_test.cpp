#include <string>

#include "lib/ops/cpu/cpu_context.hpp"
#include "tests/models/borzoi/longer.hpp"

using namespace biogpu;

TEST_CASE("borzoi.changed_windows: the bytes of a whole pass", "[borzoi][model]") {
  const std::string folder = GENERATE(test::kBorzoi, test::kFlashzoi);
  const test::LongerBorzoi longer(folder);
  test::LoadedBorzoi loaded(ops::make_cpu_context(2), longer.path());
  test::check_changed(loaded, longer.windows(), {});
}

TEST_CASE("borzoi.changed_windows: windows that differ in much are not near", "[borzoi][model]") {
  const test::LongerBorzoi longer(test::kBorzoi);
  test::LoadedBorzoi loaded(ops::make_cpu_context(2), longer.path());
  const test::Letters& window = longer.windows()[0];
  CHECK(loaded.model.is_near(window, window));
  CHECK(loaded.model.is_near(window, test::with_letters(window, 4096, 1)));
  CHECK_FALSE(loaded.model.is_near(window, test::with_letters(window, 0, 4096)));
  test::Letters moved(window.begin() + 1, window.end());
  moved.push_back(0);
  CHECK_FALSE(loaded.model.is_near(window, moved));
}
