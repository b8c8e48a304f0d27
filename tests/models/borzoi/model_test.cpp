#include <string>
#include <vector>

#include "lib/core/error.hpp"
#include "lib/ops/cpu/cpu_context.hpp"
#include "lib/ops/reference_context.hpp"
#include "tests/models/borzoi/model_support.hpp"

using namespace biogpu;
using models::Borzoi;
using test::kBorzoi;
using test::kFlashzoi;
using test::LoadedBorzoi;
using test::model_data;
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

TEST_CASE("borzoi.model: odd widths and windows of no whole bins", "[borzoi][model]") {
  const std::string folder = GENERATE(test::kOddBorzoi, test::kOddFlashzoi);
  LoadedBorzoi cpu(ops::make_cpu_context(2), model_data(folder));
  test::check_odd_borzoi(cpu, folder, 1e-4);
  LoadedBorzoi reference(ops::make_reference_context(), model_data(folder));
  test::check_odd_borzoi(reference, folder, 6e-5);
  LoadedBorzoi single(ops::make_cpu_context(1), model_data(folder));
  const std::vector<test::Letters> windows = read_windows(folder);
  test::check_any_batch(cpu, single, windows, {"stem", "block.0", "up.0", "tracks.human"});
  // 1047 and 1050 bases are 32 bins of 32 and some that the pools leave out.
  CHECK(cpu.model.info().heads[0].bins.bin_size == 32);
  CHECK_FALSE(cpu.model.is_near(windows[0], test::with_letters(windows[0], 500, 1)));
  CHECK_THROWS_AS(cpu.model.require_strands(), Error);
}

TEST_CASE("borzoi.model: a window gets the same bytes in any batch, with any threads",
          "[borzoi][model]") {
  const std::string folder = GENERATE(kBorzoi, kFlashzoi);
  LoadedBorzoi loaded(ops::make_cpu_context(2), model_data(folder));
  LoadedBorzoi single(ops::make_cpu_context(1), model_data(folder));
  test::check_any_batch(loaded, single, read_windows(folder),
                        {"stem", "tower.0", "tower.5", "block.0", "block.1", "up.1", "up.0",
                         "embedding", "tracks.human"});
}

TEST_CASE("borzoi.model: chosen tracks are those columns", "[borzoi][model]") {
  LoadedBorzoi whole(ops::make_cpu_context(2), model_data(kBorzoi));
  Borzoi::Options options;
  options.heads = {{"mouse", {}}, {"human", {6, 0, 3}}};
  LoadedBorzoi chosen(ops::make_cpu_context(2), model_data(kBorzoi), options);
  test::check_chosen_tracks(whole, chosen, read_windows(kBorzoi), 120);
}

TEST_CASE("borzoi.model: parts and the embedding do not change tracks", "[borzoi][model]") {
  const std::string folder = GENERATE(kBorzoi, kFlashzoi);
  LoadedBorzoi loaded(ops::make_cpu_context(2), model_data(folder));
  test::check_requests(loaded, read_windows(folder));
}

TEST_CASE("borzoi.model: memory is measured before it is taken", "[borzoi][model]") {
  LoadedBorzoi loaded(ops::make_cpu_context(2), model_data(kBorzoi));
  const std::size_t one = loaded.model.measure(1, {}), three = loaded.model.measure(3, {});
  // At least the first convolution's rows; and what a window needs three times for three.
  CHECK(one > std::size_t{4096} * 16 * 4);
  CHECK(three > 2 * one);
  CHECK(three < 4 * one);
}
