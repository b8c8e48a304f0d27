#include "lib/tasks/dna/tracks.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include "lib/ops/cpu/cpu_context.hpp"
#include "tests/models/alphagenome/model_support.hpp"
#include "tests/support/catch.hpp"

using namespace biogpu;

TEST_CASE("dna.tracks: the memory of a window's arrays", "[dna][model]") {
  models::AlphaGenome::Options options = test::alphagenome_options(0);
  options.weights.heads = {
      {"atac/1", {}}, {"rna_seq/1", {3, 1}}, {"chip_tf/128", {}}, {"contact_maps", {}}};
  test::LoadedAlphaGenome loaded(ops::make_cpu_context(2), options);
  tasks::TrackOptions of_run;
  of_run.request.embedding = true;
  const auto bytes_of = [&](bool embedding, bool tracks) {
    of_run.request.embedding = embedding;
    of_run.request.tracks = tracks;
    pipeline::RecordOutputs result;
    tasks::compute_tracks(loaded.model, {{"a"}, test::read_windows(test::kTinyAlphaGenome)[0]},
                          of_run, result);
    std::uint64_t n = 0;
    for (const io::NamedArray& array : result.arrays) n += array.values.size() * sizeof(float);
    CHECK(tasks::window_bytes(loaded.model, of_run) == n);
    return n;
  };
  CHECK(bytes_of(true, true) == bytes_of(true, false) + bytes_of(false, true));
  const std::uint64_t one = tasks::window_bytes(loaded.model, of_run);
  of_run.both_strands = true;
  CHECK(tasks::window_bytes(loaded.model, of_run) == 3 * one);
}

TEST_CASE("dna.tracks: the memory of junctions is that between as many sites as there may be",
          "[dna][model]") {
  models::AlphaGenome::Options options = test::alphagenome_options(0);
  options.weights.heads = {{"cage/1", {2}}, {"splice_junctions", {}}};
  test::LoadedAlphaGenome loaded(ops::make_cpu_context(2), options);
  pipeline::RecordOutputs result;
  tasks::compute_tracks(loaded.model, {{"a"}, test::read_windows(test::kTinyAlphaGenome)[0]}, {},
                        result);
  REQUIRE(result.arrays.size() == 3);
  const io::NamedArray& counts = result.arrays[1];
  const io::NamedArray& positions = result.arrays[2];
  constexpr std::uint64_t kSites = 512, kTracks = 6, kClasses = 4;
  REQUIRE(counts.shape.size() == 3);
  CHECK(counts.shape[2] == kTracks);
  CHECK(positions.shape[0] == kClasses);
  CHECK(std::max({counts.shape[0], counts.shape[1], positions.shape[1]}) <= 512);
  CHECK(tasks::window_bytes(loaded.model, {}) ==
        sizeof(float) * (1024 + kSites * kSites * kTracks + kClasses * kSites));
}

TEST_CASE("dna.tracks: heads in groups by the memory of their arrays", "[dna][model]") {
  models::AlphaGenome::Options options = test::alphagenome_options(0);
  // 5, 3 and 1 fp32 numbers a base, 3 of each of 8 x 8 pairs; junctions are 6 MB at most.
  options.weights.heads = {{"atac/1", {}},
                           {"dnase/1", {}},
                           {"cage/1", {2}},
                           {"contact_maps", {}},
                           {"splice_junctions", {}}};
  const auto context = ops::make_cpu_context(2);
  const auto model = std::make_shared<models::AlphaGenome>(
      test::model_data(test::kTinyAlphaGenome),
      models::ModelConfig(test::model_data(test::kTinyAlphaGenome)), *context, options);
  using Groups = std::vector<models::HeadRange>;
  constexpr std::uint64_t kTrack = 1024 * sizeof(float);
  CHECK(tasks::head_groups(*model, 8 * kTrack) == Groups{{0, 2}, {2, 4}, {4, 5}});
  CHECK(tasks::head_groups(*model, 8 * kTrack - 1) == Groups{{0, 1}, {1, 4}, {4, 5}});
  CHECK(tasks::head_groups(*model, 4 * kTrack) == Groups{{0, 1}, {1, 3}, {3, 4}, {4, 5}});
  CHECK(tasks::head_groups(*model, 1) == Groups{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}});
  CHECK(tasks::head_groups(*model, 1 << 30) == Groups{{0, 5}});

  const tasks::DnaWindows window{{"a"}, test::read_windows(test::kTinyAlphaGenome)[0]};
  pipeline::RecordOutputs whole;
  tasks::compute_tracks(*model, window, {}, whole);
  for (const Groups& groups : {Groups{{0, 2}, {2, 5}}, Groups{{0, 1}, {1, 2}, {2, 4}, {4, 5}}}) {
    pipeline::RecordOutputs result, got;
    tasks::compute_in_groups(model, window, groups, result);
    CHECK(model.use_count() == 2);
    CHECK(result.arrays.empty());
    CHECK(result.n_records == 1);
    CHECK(result.n_residues == 1024);
    REQUIRE(result.later.size() == groups.size());
    for (const auto& make : result.later) make(got);
    REQUIRE(got.arrays.size() == whole.arrays.size());
    for (std::size_t i = 0; i < got.arrays.size(); ++i) {
      const io::NamedArray &array = got.arrays[i], &right = whole.arrays[i];
      INFO(right.key);
      CHECK(array.key == right.key);
      CHECK(array.kind_bytes == right.kind_bytes);
      CHECK(array.shape == right.shape);
      const bool is_same = array.values == right.values;
      CHECK(is_same);
    }
    result = {};
    CHECK(model.use_count() == 1);
  }
}
