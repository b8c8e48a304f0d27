#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "lib/core/error.hpp"
#include "lib/models/alphagenome/alphagenome.hpp"
#include "lib/ops/cpu/cpu_context.hpp"
#include "lib/ops/reference_context.hpp"
#include "tests/models/alphagenome/model_support.hpp"

using namespace biogpu;
using models::AlphaGenome;
using models::alphagenome::PairGelu;
using test::alphagenome_options;
using test::check_alphagenome;
using test::kAlphaGenomeParts;
using test::Letters;
using test::LoadedAlphaGenome;
using test::of_window;

TEST_CASE("alphagenome.model: every part equals the program in double precision",
          "[alphagenome][model]") {
  LoadedAlphaGenome reference(ops::make_reference_context(), alphagenome_options(0));
  check_alphagenome(reference, "tanh/0", 4e-5);
  LoadedAlphaGenome cpu(ops::make_cpu_context(2), alphagenome_options(0));
  check_alphagenome(cpu, "tanh/0", 1e-4);
}

TEST_CASE("alphagenome.model: the other organism, and the port's GELU", "[alphagenome][model]") {
  LoadedAlphaGenome mouse(ops::make_cpu_context(2), alphagenome_options(1));
  check_alphagenome(mouse, "tanh/1", 1e-4);
  LoadedAlphaGenome port(ops::make_cpu_context(2), alphagenome_options(0, PairGelu::erf));
  check_alphagenome(port, "erf/0", 1e-4);
}

TEST_CASE("alphagenome.model: a window gets the same bytes in any batch and on any thread",
          "[alphagenome][property]") {
  LoadedAlphaGenome two(ops::make_cpu_context(2), alphagenome_options(0)),
      one(ops::make_cpu_context(1), alphagenome_options(0));
  std::vector<std::string> names;
  for (const auto& [part, name] : kAlphaGenomeParts) names.push_back(name);
  test::check_any_batch(two, one, test::read_windows(test::kTinyAlphaGenome), names);
}

TEST_CASE("alphagenome.model: what is chosen of heads is a part of all", "[alphagenome]") {
  LoadedAlphaGenome all(ops::make_cpu_context(2), alphagenome_options(0));
  const std::vector<Letters> windows{test::read_windows(test::kTinyAlphaGenome)[0]};
  const models::Outputs whole = all.run(windows);
  const std::vector<models::HeadChoice> choices{
      {"rna_seq/128", {4, 0}}, {"splice_sites", {3, 1}}, {"contact_maps", {2}}, {"atac/1", {}}};
  AlphaGenome::Options options = alphagenome_options(0);
  options.weights.heads = choices;
  LoadedAlphaGenome some(ops::make_cpu_context(2), options);
  const models::Outputs part = some.run(windows);
  CHECK(part.arrays().size() == choices.size());
  for (const models::HeadChoice& choice : choices) {
    INFO(choice.name);
    const auto& got = part.at("tracks." + choice.name);
    const auto& right = whole.at("tracks." + choice.name);
    const auto n_all = static_cast<std::size_t>(right.shape[1]);
    std::vector<std::int64_t> tracks = choice.tracks;
    if (tracks.empty())
      for (std::int64_t t = 0; t < right.shape[1]; ++t) tracks.push_back(t);
    REQUIRE(got.shape[0] == right.shape[0]);
    REQUIRE(got.shape[1] == std::ssize(tracks));
    for (std::size_t i = 0; i < got.values.size(); ++i) {
      const std::size_t row = i / tracks.size();
      const auto track = static_cast<std::size_t>(tracks[i % tracks.size()]);
      REQUIRE(got.values[i] == Approx(right.values[row * n_all + track]).epsilon(1e-5));
    }
  }
  // Coarse heads alone need no decoder.
  AlphaGenome::Options coarse = alphagenome_options(0);
  coarse.weights.heads = {{"chip_tf/128", {}}};
  LoadedAlphaGenome chip(ops::make_cpu_context(2), coarse);
  CHECK(of_window(chip.run(windows), "tracks.chip_tf/128", 0, 1) ==
        of_window(whole, "tracks.chip_tf/128", 0, 1));
  CHECK(chip.model.measure(1, {}) < all.model.measure(1, {}) / 2);
}

TEST_CASE("alphagenome.embeddings: groups of heads have the bytes of a whole pass",
          "[alphagenome][model]") {
  LoadedAlphaGenome all(ops::make_cpu_context(2), alphagenome_options(0));
  const std::size_t n_heads = all.model.heads().size();
  test::check_kept_heads(all, {1, 2, 5, n_heads});
  // The same heads of a pass over letters compute nothing else.
  const Letters window = test::read_windows(test::kTinyAlphaGenome)[0];
  const models::Outputs whole = all.run({window});
  models::DnaModel::Request request;
  request.heads = {1, 3};
  const models::Outputs two = all.run({window}, request);
  REQUIRE(two.arrays().size() == 2);
  for (const models::Outputs::Array& array : two.arrays())
    CHECK(array.values == whole.at(array.name).values);
  // Embeddings that no loaded head reads are not kept.
  AlphaGenome::Options options = alphagenome_options(1);
  options.weights.heads = {{"chip_tf/128", {}}, {"contact_maps", {2, 0}}};
  LoadedAlphaGenome coarse(ops::make_cpu_context(1), options);
  test::check_kept_heads(coarse, {1, 2});
  options.weights.heads = {{"splice_junctions", {5, 1}}, {"rna_seq/1", {3}}};
  LoadedAlphaGenome fine(ops::make_cpu_context(2), options);
  test::check_kept_heads(fine, {1, 2});
  options.weights.heads = {{"contact_maps", {}}};
  LoadedAlphaGenome contacts(ops::make_cpu_context(2), options);
  test::check_kept_heads(contacts, {1});
}

TEST_CASE("alphagenome.model: lengths and organisms that it does not have are refused",
          "[alphagenome]") {
  for (const std::int64_t n_bases : {1000, 65536 + 128}) {
    AlphaGenome::Options options = alphagenome_options(0);
    options.n_bases = n_bases;
    CHECK_THROWS_AS(LoadedAlphaGenome(ops::make_cpu_context(1), options), Error);
  }
  CHECK_THROWS_AS(LoadedAlphaGenome(ops::make_cpu_context(1), alphagenome_options(2)), Error);
  AlphaGenome::Options longer = alphagenome_options(0);
  longer.n_bases = 2048;
  LoadedAlphaGenome loaded(ops::make_cpu_context(2), longer);
  const std::vector<Letters> windows = test::read_windows(test::kTinyAlphaGenome);
  Letters both = windows[0];
  both.insert(both.end(), windows[1].begin(), windows[1].end());
  CHECK(loaded.run({both}).at("tracks.atac/1").shape[0] == 2048);
}

TEST_CASE("alphagenome.junctions: sites and counts equal the program", "[alphagenome][model]") {
  const std::vector<Letters> windows = test::read_windows(test::kTinyAlphaGenome);
  AlphaGenome::Options options = alphagenome_options(0);
  options.weights.heads = {{"splice_junctions", {}}};
  LoadedAlphaGenome reference(ops::make_reference_context(), options);
  test::check_junctions(reference, 1e-4);
  LoadedAlphaGenome cpu(ops::make_cpu_context(2), options);
  const std::vector<float> all = test::check_junctions(cpu, 1e-4);
  // A window alone and on one thread: the same bytes; tissues that were chosen: the same columns.
  LoadedAlphaGenome one(ops::make_cpu_context(1), options);
  CHECK(one.run({windows[1]}).at("tracks.splice_junctions.0").values.size() > 0);
  const models::Outputs alone = one.run({windows[0]});
  const auto& of_one = alone.at("tracks.splice_junctions.0").values;
  CHECK(std::vector<float>(of_one.begin(), of_one.end()) == all);
  AlphaGenome::Options chosen = options;
  chosen.weights.heads = {{"splice_junctions", {5, 1}}};
  LoadedAlphaGenome some(ops::make_cpu_context(2), chosen);
  const models::Outputs part = some.run({windows[0]});
  const auto& two = part.at("tracks.splice_junctions.0");
  REQUIRE(two.shape == std::vector<std::int64_t>{512, 512, 2});
  for (std::size_t i = 0; i < 512 * 512; ++i) {
    REQUIRE(two.values[2 * i] == Approx(all[6 * i + 5]).epsilon(1e-5));
    REQUIRE(two.values[2 * i + 1] == Approx(all[6 * i + 1]).epsilon(1e-5));
  }
}

TEST_CASE("alphagenome.junctions: between sites that are chosen afterwards", "[alphagenome]") {
  const auto windows = test::read_windows(test::kTinyAlphaGenome);
  AlphaGenome::Options options = alphagenome_options(0);
  options.weights.heads = {{"splice_junctions", {}}};
  LoadedAlphaGenome cpu(ops::make_cpu_context(2), options);
  const models::Outputs own = cpu.run({windows[0], windows[1]});
  std::vector<models::SiteWindow> kept;
  models::DnaModel::Request request;
  request.sites = &kept;
  cpu.model.reserve_sites(3);
  CHECK(cpu.run({windows[0]}, request).find("tracks.splice_junctions.0") == nullptr);
  cpu.run({windows[1], windows[0]}, request);  // does not change what is kept of the first
  REQUIRE(kept.size() == 3);
  const auto counts = [&](const models::SiteWindow& window, const models::SpliceSites& sites,
                          const models::SiteRows& rows) {
    const models::Outputs outputs = cpu.model.run_junctions(window, sites, rows);
    const auto& values = outputs.at("junctions").values;
    return std::vector<float>(values.begin(), values.end());
  };
  const auto right = [&](const char* name) {
    const auto& values = own.at(name).values;
    return std::vector<float>(values.begin(), values.end());
  };
  const models::SpliceSites sites =
      cpu.model.select_sites({kept[0].probabilities.begin(), kept[0].probabilities.size()});
  const models::SiteRows rows = models::alphagenome::own_rows(sites);
  const std::vector<float> all = right("tracks.splice_junctions.0");
  CHECK(counts(kept[0], sites, rows) == all);
  CHECK(counts(kept[2], sites, rows) == all);
  const models::SpliceSites others =
      cpu.model.select_sites({kept[1].probabilities.begin(), kept[1].probabilities.size()});
  CHECK(counts(kept[1], others, models::alphagenome::own_rows(others)) ==
        right("tracks.splice_junctions.1"));
  // The maximum of one row is the row; of more it is another, but for the other sites.
  models::SiteRows changed = rows;
  const std::int32_t base = sites[0][1];
  changed.rows[1] = models::SiteRows::kMaximum;
  changed.max_begin = base;
  changed.max_end = base + 1;
  CHECK(counts(kept[0], sites, changed) == all);
  const std::size_t n_of_row = 512 * 6;  // numbers of a donor
  REQUIRE(all.size() == 512 * n_of_row);
  const auto differs = [&](const std::vector<float>& got, std::size_t donor) {
    return !std::equal(got.begin() + static_cast<std::ptrdiff_t>(donor * n_of_row),
                       got.begin() + static_cast<std::ptrdiff_t>((donor + 1) * n_of_row),
                       all.begin() + static_cast<std::ptrdiff_t>(donor * n_of_row));
  };
  for (const std::int32_t n : {2, 3, 7}) {
    changed.max_end = base + n;
    const std::vector<float> got = counts(kept[0], sites, changed);
    CHECK((!differs(got, 0) && differs(got, 1) && !differs(got, 2)));
    CHECK(got == counts(kept[2], sites, changed));
  }
  changed.rows[1] = models::SiteRows::kZeros;
  const std::vector<float> got = counts(kept[0], sites, changed);
  CHECK((!differs(got, 0) && differs(got, 1) && !differs(got, 2)));
}

TEST_CASE("alphagenome.junctions: sites of the reference count where sites are kept",
          "[alphagenome]") {
  AlphaGenome::Options options = alphagenome_options(0);
  options.weights.heads = {{"splice_junctions", {}}};
  LoadedAlphaGenome loaded(ops::make_cpu_context(1), options);
  std::vector<models::SiteWindow> sites;
  models::DnaModel::Request request;
  request.sites = &sites;
  const std::size_t width = 24;  // of the embedding of bases
  for (const std::int64_t n : {1, 2, 5})
    CHECK(loaded.model.measure(n, request) ==
          loaded.model.measure(n, {}) + sizeof(float) * 1024 * width);
}

TEST_CASE("alphagenome.junctions: the best sites of each class in ascending order",
          "[alphagenome]") {
  using models::alphagenome::select_sites;
  std::vector<float> probabilities(5 * 700);
  for (std::size_t base = 0; base < 700; ++base) {
    probabilities[5 * base] = base % 2 == 0 ? 0.1f : 0.099999f;  // 350 at the threshold
    probabilities[5 * base + 1] = 0.5f;                          // equal ones: the first 512
    probabilities[5 * base + 2] = 0.2f + 0.001f * static_cast<float>(base);  // the last 512
    probabilities[5 * base + 4] = 0.9f;
  }
  const models::SpliceSites sites = select_sites(probabilities);
  REQUIRE(sites[0].size() == 350);
  CHECK(sites[0][3] == 6);
  REQUIRE(sites[1].size() == 512);
  CHECK(sites[1].back() == 511);
  REQUIRE(sites[2].size() == 512);
  CHECK(sites[2].front() == 188);
  CHECK(std::is_sorted(sites[2].begin(), sites[2].end()));
  CHECK(sites[3].empty());
}

TEST_CASE("alphagenome.junctions: sites whose probability is NaN are chosen and marked",
          "[alphagenome]") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> probabilities(5 * 600);
  for (std::size_t base = 0; base < 600; ++base) {
    probabilities[5 * base] = 0.7f;  // more than are chosen
    probabilities[5 * base + 1] = nan;
  }
  for (const std::size_t base : {3, 550, 599}) probabilities[5 * base] = nan;
  probabilities[5 * 20 + 3] = nan;
  const models::SpliceSites sites = models::alphagenome::select_sites(probabilities);
  REQUIRE(sites[0].size() == 512);
  CHECK((sites[0][3] == 3 && sites[0][509] == 509 && sites[0][510] == 550 && sites[0][511] == 599));
  REQUIRE(sites[1].size() == 512);
  CHECK(sites[1].back() == 511);
  CHECK(sites[2].empty());
  CHECK(sites[3] == std::vector<std::int32_t>{20});
  models::Outputs::Array positions;
  positions.shape = {4, 512};
  positions.values = io::SharedArray(std::vector<float>(4 * 512, 1.0f));
  models::alphagenome::mark_unknown_sites(probabilities, sites, positions);
  std::size_t n_marked = 0;
  for (const float value : positions.values) n_marked += std::isnan(value);
  CHECK(n_marked == 3 + 512 + 1);
  CHECK((std::isnan(positions.values[510]) && positions.values[509] == 1));
}
