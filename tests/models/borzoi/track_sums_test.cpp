#include "lib/ops/cpu/cpu_context.hpp"
#include "tests/models/borzoi/longer.hpp"
#include "tests/models/sums_support.hpp"

using namespace biogpu;

TEST_CASE("borzoi.track_sums: the bytes of sums of fetched tracks", "[borzoi][model]") {
  const std::string folder = GENERATE(test::kBorzoi, test::kFlashzoi);
  const test::LongerBorzoi longer(folder);
  models::Borzoi::Options options;
  options.heads = test::heads_with_strands();
  if (folder == test::kFlashzoi) options.heads.pop_back();  // it has no other
  test::LoadedBorzoi loaded(ops::make_cpu_context(2), longer.path(), options);
  test::check_sums(loaded, longer.windows());
}
