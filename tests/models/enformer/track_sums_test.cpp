#include "lib/ops/cpu/cpu_context.hpp"
#include "tests/models/enformer/model_support.hpp"
#include "tests/models/sums_support.hpp"

using namespace biogpu;

TEST_CASE("enformer.track_sums: the bytes of sums of fetched tracks", "[enformer][model]") {
  models::Enformer::Options options;
  options.weights.heads = test::heads_with_strands();
  test::LoadedEnformer loaded(ops::make_cpu_context(2), options);
  test::check_sums(loaded, test::tiny_windows());
}
