#include "lib/tasks/dna/tracks.hpp"
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
