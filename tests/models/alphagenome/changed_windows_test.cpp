#include <optional>
#include <stdexcept>

#include "lib/models/alphagenome/read_parts.hpp"
#include "lib/ops/cpu/cpu_context.hpp"
#include "tests/models/alphagenome/changed_checks.hpp"

using namespace biogpu;
using models::BinRows;
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

namespace {

constexpr std::int64_t kPartRows = 1024, kPartLevels = 7, kPartBin = 128;

std::optional<ReadParts> parts_of(const std::vector<std::vector<BinSum>>& sums,
                                  const std::vector<std::vector<BinRows>>& rows,
                                  std::int64_t n_windows) {
  models::alphagenome::ReadBases read;
  for (const std::vector<BinSum>& of_head : sums) read.sums.emplace_back(of_head);
  for (const std::vector<BinRows>& of_head : rows) read.rows.emplace_back(of_head);
  return find_read_parts(read, n_windows, kPartRows, kPartLevels);
}

// Whether bases of a part are those of the window, with what zeros at its ends reach left out.
void check_within(const ReadParts& parts, std::size_t part, std::size_t window, std::int64_t begin,
                  std::int64_t end, std::int64_t shifted_begin) {
  const std::int64_t margin = part_margin(kPartLevels) * kPartBin;
  REQUIRE(part < parts.parts.size());
  const auto& [of_window, first] = parts.parts[part];
  CHECK(of_window == window);
  CHECK(shifted_begin == begin - first * kPartBin);
  const std::int64_t last = first + parts.n_rows;
  CHECK((first >= 0 && last <= kPartRows));
  CHECK(begin >= (first == 0 ? 0 : first * kPartBin + margin));
  CHECK(end <= (last == kPartRows ? kPartRows * kPartBin : last * kPartBin - margin));
}

void check_sums(const ReadParts& parts, const std::vector<BinSum>& sums) {
  const std::vector<BinSum> shifted = parts.shifted(sums);
  REQUIRE(shifted.size() == sums.size());
  for (std::size_t i = 0; i < sums.size(); ++i) {
    INFO("sum " << i);
    CHECK(shifted[i].end - shifted[i].begin == sums[i].end - sums[i].begin);
    if (sums[i].begin < sums[i].end)
      check_within(parts, shifted[i].window, sums[i].window, sums[i].begin, sums[i].end,
                   shifted[i].begin);
  }
}

}  // namespace

TEST_CASE("alphagenome.read_parts: parts hold all that is read", "[alphagenome]") {
  constexpr std::int64_t kBases = kPartRows * kPartBin;
  // Near each other, far from them, at both ends, none.
  const std::vector<BinSum> first = {{0, 70000, 70501, 1}, {1, 0, 1, 1}, {0, 5, 5, 1}};
  const std::vector<BinSum> second = {{0, 30000, 30001, 1}, {2, kBases - 1, kBases, 1}};
  const std::vector<BinRows> rows = {{69000, 69001}, {}, {}, {100, 200}};
  const std::optional<ReadParts> parts = parts_of({first, second}, {rows}, 4);
  REQUIRE(parts);
  CHECK(parts->n_rows * std::ssize(parts->parts) <= 4 * kPartRows / 2);
  CHECK(parts->parts.size() > 4);
  check_sums(*parts, first);
  check_sums(*parts, second);
  const std::vector<BinRows> shifted = parts->shifted(rows);
  REQUIRE(shifted.size() == 4);
  for (const std::size_t w : {std::size_t{0}, std::size_t{3}})
    check_within(*parts, w, w, rows[w].begin, rows[w].end, shifted[w].begin);
  CHECK(shifted[1].size() == 0);
  CHECK(parts->parts[2].window == 2);

  CHECK_FALSE(parts_of({{{0, 0, 70000, 1}}}, {}, 1));
  CHECK_FALSE(parts_of({}, {{{0, 70000}}}, 1));
  CHECK_FALSE(
      parts_of({}, {{{0, 1}, {}}, {{70000, 70001}, {}}}, 2));  // all of a window in one part
  CHECK(parts_of({{{0, 0, 1, 1}, {0, 70000, 70001, 1}}}, {}, 1)->parts.size() == 2);
  CHECK_THROWS_AS(parts_of({second}, {}, 2), std::out_of_range);
  CHECK_THROWS_AS(parts_of({{{0, 0, kBases + 1, 1}}}, {}, 1), std::out_of_range);
  CHECK_THROWS_AS(parts_of({}, {{{-1, 3}}}, 1), std::out_of_range);
}

TEST_CASE("alphagenome.read_parts: exons of genes over a window", "[alphagenome][property]") {
  std::uint32_t state = 3;
  const auto random = [&](std::int64_t n) {
    state = state * 1664525u + 1013904223u;
    return static_cast<std::int64_t>(state >> 8) % n;
  };
  std::size_t n_many = 0, n_whole = 0;
  for (int round = 0; round < 60; ++round) {
    std::vector<BinSum> sums;
    for (std::int64_t gene = random(6); gene >= 0; --gene) {
      std::int64_t at = random(kPartRows * kPartBin - 40000);
      const auto window = static_cast<std::size_t>(random(3));
      for (std::int64_t exon = random(8); exon >= 0; --exon) {
        const std::int64_t size = 1 + random(round % 2 == 0 ? 300 : 3000);
        sums.push_back({window, at, at + size, 1});
        at += size + random(2000);
      }
    }
    const std::optional<ReadParts> parts = parts_of({sums}, {}, 3);
    if (!parts) {
      ++n_whole;
      continue;
    }
    n_many += parts->parts.size() > 3 ? 1 : 0;
    CHECK(2 * parts->n_rows * std::ssize(parts->parts) <= 3 * kPartRows);
    check_sums(*parts, sums);
  }
  CHECK(n_many > 20);
  CHECK(n_whole < 30);
}
