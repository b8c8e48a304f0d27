#include <algorithm>
#include <string>
#include <vector>

#include "lib/core/error.hpp"
#include "lib/ops/cpu/cpu_context.hpp"
#include "lib/ops/reference_context.hpp"
#include "tests/models/enformer/model_support.hpp"

using namespace biogpu;
using models::Enformer;
using models::enformer::GammaForm;
using test::LoadedEnformer;
using test::of_window;
using test::position_difference;
using test::tiny_windows;

TEST_CASE("enformer.model: every part equals enformer-pytorch in double precision",
          "[enformer][model]") {
  LoadedEnformer cpu(ops::make_cpu_context(2));
  test::check_enformer(cpu, 1e-4);
  LoadedEnformer reference(ops::make_reference_context());
  test::check_enformer(reference, 4e-5);
}

TEST_CASE("enformer.model: odd widths and windows of no whole bins", "[enformer][model]") {
  const std::string folder = test::model_data(test::kOdd);
  LoadedEnformer cpu(ops::make_cpu_context(2), {}, folder);
  test::check_odd_enformer(cpu, 1e-4);
  LoadedEnformer reference(ops::make_reference_context(), {}, folder);
  test::check_odd_enformer(reference, 4e-5);
  LoadedEnformer single(ops::make_cpu_context(1), {}, folder);
  const std::vector<test::Letters> windows = test::read_windows(test::kOdd);
  test::check_any_batch(cpu, single, windows, {"stem", "block.0", "embedding", "tracks.human"});
  // 1003 bases are 62 bins of 16 and a part of one.
  CHECK(cpu.model.info().heads[0].bins == models::BinGrid{16, 22 * 16, 19});
  CHECK_FALSE(cpu.model.is_near(windows[0], test::with_letters(windows[0], 500, 1)));
  CHECK_THROWS_AS(cpu.model.require_strands(), Error);
  LoadedEnformer whole(ops::make_cpu_context(2));
  CHECK_NOTHROW(whole.model.require_strands());
}

TEST_CASE("enformer.model: gamma features over positions, by option", "[enformer][model]") {
  const test::Vectors expected(test::kTiny + "/expected.safetensors");
  Enformer::Options options;
  options.weights.gamma = GammaForm::positions;
  LoadedEnformer loaded(ops::make_cpu_context(2), options);
  CHECK(loaded.model.gamma() == GammaForm::positions);
  const models::Outputs outputs = loaded.run({tiny_windows()[0]});
  for (const std::string head : {"human", "mouse"}) {
    const auto got = of_window(outputs, "tracks." + head, 0, 1);
    const auto n_tracks = static_cast<std::size_t>(outputs.at("tracks." + head).shape[1]);
    CHECK(position_difference(got, expected["positions/heads/" + head], n_tracks) < 1e-4);
    CHECK(position_difference(got, expected["one/heads/" + head], n_tracks) > 0.1);
  }
}

TEST_CASE("enformer.model: a window gets the same bytes in any batch, with any threads",
          "[enformer][model]") {
  LoadedEnformer loaded(ops::make_cpu_context(2)), single(ops::make_cpu_context(1));
  test::check_any_batch(
      loaded, single, tiny_windows(),
      {"stem", "tower.2", "block.0", "block.1", "embedding", "tracks.human", "tracks.mouse"});
}

TEST_CASE("enformer.model: chosen tracks are those columns", "[enformer][model]") {
  LoadedEnformer whole(ops::make_cpu_context(2));
  Enformer::Options options;
  options.weights.heads = {{"mouse", {}}, {"human", {6, 0, 3}}};
  LoadedEnformer chosen(ops::make_cpu_context(2), options);
  test::check_chosen_tracks(whole, chosen, tiny_windows(), 32);
}

TEST_CASE("enformer.model: parts and the embedding do not change tracks", "[enformer][model]") {
  LoadedEnformer loaded(ops::make_cpu_context(2));
  test::check_requests(loaded, tiny_windows());
}

TEST_CASE("enformer.model: the tower moves with its input by whole bins", "[enformer][model]") {
  const std::vector<std::uint8_t> window = tiny_windows()[0];
  std::vector<std::uint8_t> moved(window.begin() + 32, window.end());
  moved.resize(window.size(), 4);
  LoadedEnformer loaded(ops::make_cpu_context(2));
  const models::Outputs outputs = loaded.run({window, moved}, {true, true, true});
  const auto right = of_window(outputs, "tower.2", 0, 2);
  const auto got = of_window(outputs, "tower.2", 1, 2);
  // A row reaches 7 bases and then 2 rows of each of three levels to either side: 36 bases.
  constexpr std::size_t kEdge = 3, kWidth = 48;
  const auto rows = [](const std::vector<float>& all, std::size_t first, std::size_t end) {
    return std::vector<float>(all.begin() + first * kWidth, all.begin() + end * kWidth);
  };
  CHECK(rows(got, kEdge, 62 - kEdge) == rows(right, kEdge + 2, 64 - kEdge));
  CHECK(rows(got, 0, 1) != rows(right, 2, 3));  // that reach over the edge
  // The transformer looks everywhere.
  CHECK(of_window(outputs, "tracks.human", 0, 2) != of_window(outputs, "tracks.human", 1, 2));
}

TEST_CASE("enformer.model: memory of a pass grows with its windows", "[enformer][model]") {
  LoadedEnformer loaded(ops::make_cpu_context(2));
  const std::size_t one = loaded.model.measure(1, {}), four = loaded.model.measure(4, {});
  CHECK(one > 1024 * 24 * 4);
  CHECK(four > 3 * one);
  CHECK(four < 5 * one);
}
