#include <optional>
#include <stdexcept>

#include "lib/models/alphagenome/read_parts.hpp"
#include "lib/ops/cpu/cpu_context.hpp"
#include "tests/models/alphagenome/changed_checks.hpp"

using namespace biogpu;
using models::BinSum;
using models::alphagenome::find_read_parts;
using models::alphagenome::part_margin;
using models::alphagenome::ReadParts;

TEST_CASE("alphagenome.changed_windows: the bytes of a whole pass", "[alphagenome][model]") {
  test::LoadedAlphaGenome loaded(ops::make_cpu_context(2), test::changed_options());
  test::check_kept_trunk(loaded);
  test::check_changed_sums(loaded);
}

TEST_CASE("alphagenome.changed_windows: rows and splice sites of parts", "[alphagenome][model]") {
  test::LoadedAlphaGenome loaded(ops::make_cpu_context(2), test::rows_options());
  test::check_changed_rows(loaded);
}

TEST_CASE("alphagenome.changed_windows: coarse tracks and contact maps", "[alphagenome][model]") {
  models::AlphaGenome::Options options = test::changed_options();
  options.weights.heads = {{"chip_tf/128", {}}, {"contact_maps", {}}};
  test::LoadedAlphaGenome loaded(ops::make_cpu_context(2), std::move(options));
  test::check_changed_tracks(loaded);
}

TEST_CASE("alphagenome.changed_windows: tracks of bases are those of a whole pass",
          "[alphagenome][model]") {
  models::AlphaGenome::Options options = test::changed_options();
  options.weights.heads = {{"rna_seq/1", {}}, {"splice_sites", {}}};
  test::LoadedAlphaGenome loaded(ops::make_cpu_context(2), std::move(options));
  test::check_changed_tracks(loaded);
}

TEST_CASE("alphagenome.changed_windows: windows that differ in much are not near",
          "[alphagenome][model]") {
  test::LoadedAlphaGenome loaded(ops::make_cpu_context(1), test::changed_options());
  const test::Letters window = test::long_window(1);
  CHECK(loaded.model.is_near(window, window));
  CHECK(loaded.model.is_near(window, test::with_letters(window, 1000, 1)));
  CHECK_FALSE(loaded.model.is_near(
      window, test::with_letters(test::with_letters(window, 0, 1), window.size() - 1, 1)));
}

namespace {

// Rows of each level that zeros at one end reach, by spreading marks through all convolutions.
std::int64_t marked_rows(std::int64_t n_levels) {
  const std::int64_t n = std::int64_t{64} << n_levels;
  const auto convolved = [](std::vector<bool> rows, std::int64_t half) {
    std::vector<bool> wider = rows;
    for (std::size_t i = 0; i < rows.size(); ++i)
      for (std::int64_t d = 1; d <= half; ++d)
        if (i < static_cast<std::size_t>(d) || rows[i - static_cast<std::size_t>(d)])
          wider[i] = true;
    return wider;
  };
  std::vector<std::vector<bool>> encoded;
  std::vector<bool> rows(static_cast<std::size_t>(n));
  for (std::int64_t level = 0; level < n_levels; ++level) {
    rows = convolved(convolved(rows, level == 0 ? 7 : 2), 2);
    encoded.push_back(rows);
    std::vector<bool> pooled(rows.size() / 2);
    for (std::size_t i = 0; i < pooled.size(); ++i) pooled[i] = rows[2 * i] || rows[2 * i + 1];
    rows = pooled;
  }
  rows.assign(rows.size(), false);  // the tower's result is that of the window
  for (std::int64_t level = n_levels - 1; level >= 0; --level) {
    rows = convolved(rows, 2);
    const std::vector<bool>& skip = encoded[static_cast<std::size_t>(level)];
    std::vector<bool> twice(skip.size());
    for (std::size_t i = 0; i < twice.size(); ++i) twice[i] = rows[i / 2] || skip[i];
    rows = convolved(twice, 2);
  }
  std::int64_t n_marked = 0;
  for (const bool marked : rows) n_marked += marked ? 1 : 0;
  return n_marked;
}

}  // namespace

TEST_CASE("alphagenome.read_parts: what zeros around a part reach", "[alphagenome]") {
  for (const std::int64_t n_levels : {1, 2, 3, 5, 7}) {
    INFO(n_levels << " levels");
    const std::int64_t bin = std::int64_t{1} << n_levels, marked = marked_rows(n_levels);
    CHECK(part_margin(n_levels) * bin >= marked);
    CHECK((part_margin(n_levels) - 1) * bin < marked);
  }
}

TEST_CASE("alphagenome.read_parts: parts hold the bins of all sums", "[alphagenome]") {
  constexpr std::int64_t kRows = 1024, kLevels = 7, kBin = 128;
  const std::int64_t margin = part_margin(kLevels);
  const std::vector<BinSum> first = {{0, 70000, 70501, 1}, {1, 0, 1, 1}, {0, 5, 5, 1}};
  const std::vector<BinSum> second = {{0, 69000, 69001, 1}, {2, kRows * kBin - 1, kRows * kBin, 1}};
  const std::vector<std::span<const BinSum>> sums = {first, second};
  const std::optional<ReadParts> parts = find_read_parts(sums, 4, kRows, kLevels);
  REQUIRE(parts);
  CHECK(parts->n_rows >= 12 + 2 * margin);
  CHECK(parts->n_rows < 24 + 2 * margin);
  REQUIRE(parts->begins.size() == 4);
  CHECK(parts->begins[0] == 69000 / kBin - margin);
  CHECK(parts->begins[1] == 0);
  CHECK(parts->begins[2] == kRows - parts->n_rows);
  const std::vector<BinSum> shifted = parts->shifted(first, kBin);
  CHECK(shifted[0].begin == 70000 - parts->begins[0] * kBin);
  CHECK(shifted[0].end - shifted[0].begin == 501);
  CHECK(shifted[1].begin == 0);
  CHECK(shifted[2].begin == shifted[2].end);
  const std::vector<BinSum> wide = {{0, 0, 70000, 1}};
  const std::vector<std::span<const BinSum>> most = {wide};
  CHECK_FALSE(find_read_parts(most, 1, kRows, kLevels));
  const std::vector<std::span<const BinSum>> of_few = {second};
  CHECK_THROWS_AS(find_read_parts(of_few, 2, kRows, kLevels), std::out_of_range);
  const std::vector<BinSum> outside = {{0, 0, kRows * kBin + 1, 1}};
  const std::vector<std::span<const BinSum>> of_outside = {outside};
  CHECK_THROWS_AS(find_read_parts(of_outside, 1, kRows, kLevels), std::out_of_range);
}
