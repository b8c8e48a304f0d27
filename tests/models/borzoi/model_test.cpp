#include <string>
#include <vector>

#include "lib/ops/cpu/cpu_context.hpp"
#include "lib/ops/reference_context.hpp"
#include "tests/models/borzoi/model_support.hpp"

using namespace biogpu;
using models::Borzoi;
using test::kBorzoi;
using test::kFlashzoi;
using test::LoadedBorzoi;
using test::model_data;
using test::of_window;
using test::read_windows;

TEST_CASE("borzoi.model: every part equals borzoi-pytorch in double precision", "[borzoi][model]") {
  const std::string folder = GENERATE(kBorzoi, kFlashzoi);
  LoadedBorzoi cpu(ops::make_cpu_context(2), model_data(folder));
  // Differences over positions, relative to a column's spread. Numbers between operations are fp32
  // in both contexts, and roundings of 2^-24 grow through 20 layers; the CPU's sums are fp32 too.
  test::check_borzoi(cpu, folder, 1e-4);
  LoadedBorzoi reference(ops::make_reference_context(), model_data(folder));
  test::check_borzoi(reference, folder, 6e-5);
}

TEST_CASE("borzoi.model: a window gets the same bytes in any batch, with any threads",
          "[borzoi][model]") {
  const std::string folder = GENERATE(kBorzoi, kFlashzoi);
  const auto windows = read_windows(folder);
  LoadedBorzoi loaded(ops::make_cpu_context(2), model_data(folder));
  LoadedBorzoi single(ops::make_cpu_context(1), model_data(folder));
  const Borzoi::Request all{true, true, true};
  const models::Outputs together = loaded.run({windows[1], windows[0], windows[0]}, all);
  const models::Outputs alone = loaded.run({windows[0]}, all);
  const models::Outputs by_one = single.run({windows[0]}, all);
  for (const std::string name : {"stem", "tower.0", "tower.5", "block.0", "block.1", "up.1", "up.0",
                                 "embedding", "tracks.human"}) {
    INFO(name);
    const auto right = of_window(alone, name, 0, 1);
    CHECK(of_window(together, name, 1, 3) == right);
    CHECK(of_window(together, name, 2, 3) == right);
    CHECK(of_window(by_one, name, 0, 1) == right);
    CHECK(of_window(together, name, 0, 3) != right);
  }
}

TEST_CASE("borzoi.model: chosen tracks are those columns", "[borzoi][model]") {
  const auto windows = read_windows(kBorzoi);
  LoadedBorzoi whole(ops::make_cpu_context(2), model_data(kBorzoi));
  Borzoi::Options options;
  options.heads = {{"mouse", {}}, {"human", {6, 0, 3}}};
  LoadedBorzoi chosen(ops::make_cpu_context(2), model_data(kBorzoi), options);
  const models::Outputs all = whole.run(windows), some = chosen.run(windows);
  CHECK(some.at("tracks.mouse").values == all.at("tracks.mouse").values);
  const auto& human = some.at("tracks.human");
  REQUIRE(human.shape == std::vector<std::int64_t>{120, 3});
  for (std::size_t row = 0; row < 120; ++row) {
    std::size_t column = 0;
    for (const std::size_t track : {6u, 0u, 3u})
      CHECK(human.values[row * 3 + column++] == all.at("tracks.human").values[row * 7 + track]);
  }
}

TEST_CASE("borzoi.model: parts and the embedding do not change tracks", "[borzoi][model]") {
  const std::string folder = GENERATE(kBorzoi, kFlashzoi);
  const auto windows = read_windows(folder);
  LoadedBorzoi loaded(ops::make_cpu_context(2), model_data(folder));
  const auto tracks = loaded.run(windows).at("tracks.human").values;
  CHECK(loaded.run(windows, {true, true, true}).at("tracks.human").values == tracks);
  const models::Outputs embedding = loaded.run(windows, {false, true, false});
  CHECK(embedding.find("tracks.human") == nullptr);
  CHECK(embedding.at("embedding").values ==
        loaded.run(windows, {true, true, false}).at("embedding").values);
}

TEST_CASE("borzoi.model: memory is measured before it is taken", "[borzoi][model]") {
  LoadedBorzoi loaded(ops::make_cpu_context(2), model_data(kBorzoi));
  const std::size_t one = loaded.model.measure(1, {}), three = loaded.model.measure(3, {});
  // At least the first convolution's rows; and what a window needs three times for three.
  CHECK(one > std::size_t{4096} * 16 * 4);
  CHECK(three > 2 * one);
  CHECK(three < 4 * one);
}
