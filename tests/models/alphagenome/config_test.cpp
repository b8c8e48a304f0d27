#include "lib/models/alphagenome/config.hpp"

#include <string>
#include <vector>

#include "lib/core/error.hpp"
#include "lib/ops/cpu/cpu_context.hpp"
#include "tests/models/alphagenome/model_support.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/infer/folder.hpp"

using namespace biogpu;
using models::ModelConfig;
using models::alphagenome::Config;

namespace {

Config read(const std::string& json) {
  const test::Folder folder;
  folder.write("config.json", json);
  return models::alphagenome::read_config(ModelConfig(folder.path()));
}

std::string error_of(const std::string& json) {
  try {
    const test::Folder folder;
    folder.write("config.json", json);
    const ModelConfig file(folder.path());
    models::alphagenome::require_gpu_shape(file, models::alphagenome::read_config(file));
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("alphagenome.config: the published model is what an empty file says", "[alphagenome]") {
  const Config config = read("{}");
  CHECK(config.width() == 1536);
  CHECK(config.coarse_bin() == 128);
  CHECK(config.pair_bin() == 2048);
  const auto heads = models::alphagenome::all_heads(config, 131072);
  CHECK(heads.size() == 16);
  REQUIRE(models::find_head(heads, "rna_seq/1") != nullptr);
  CHECK(models::find_head(heads, "rna_seq/1")->bins.n_bins == 131072);
  CHECK(models::find_head(heads, "chip_tf/1") == nullptr);
  CHECK(models::find_head(heads, "chip_tf/128")->n_tracks == 1664);
  CHECK(models::find_head(heads, "contact_maps")->bins.n_bins == 64 * 64);
  CHECK(error_of("{}") == "no error");
}

TEST_CASE("alphagenome.config: heads keep the published order", "[alphagenome]") {
  const Config config = read(R"({"track_heads": {"own": 2, "rna_seq": 3, "atac": 4}})");
  REQUIRE(config.track_heads.size() == 3);
  CHECK(config.track_heads[0].name == "atac");
  CHECK(config.track_heads[1].name == "rna_seq");
  CHECK(config.track_heads[1].is_squashed);
  CHECK(config.track_heads[2].name == "own");
}

TEST_CASE("alphagenome.config: fine-tuned models have other heads", "[alphagenome]") {
  const Config config = read(
      R"({"track_heads": {"own": 2, "mine": 3, "rna_seq": 4}, "coarse_heads": ["mine"],
          "fine_heads": ["own"], "squashed_heads": ["own"], "contact_tracks": 0,
          "splice_usage_tracks": 0, "splice_junction_tissues": 0, "splice_sites": false,
          "num_organisms": 1, "organisms": ["mouse"]})");
  const auto heads = models::alphagenome::all_heads(config, 2048);
  REQUIRE(heads.size() == 4);
  CHECK(heads[0].name == "rna_seq/1");
  CHECK(heads[1].name == "rna_seq/128");
  CHECK(heads[2].name == "mine/128");
  CHECK(heads[3].name == "own/1");
  CHECK(heads[3].table == "tracks_mouse.tsv");
  CHECK_FALSE(config.track_heads[0].is_squashed);
  CHECK(config.track_heads[2].is_squashed);
  CHECK(error_of(R"({"coarse_heads": ["atac"], "fine_heads": ["atac"]})")
            .find("'atac' is in both coarse_heads and fine_heads") != std::string::npos);
  CHECK(error_of(R"({"splice_sites": false})").find("splice_junction_tissues without") !=
        std::string::npos);
  CHECK(error_of(R"({"num_organisms": 1, "organisms": ["a", "b"]})")
            .find("organisms has 2 names of 1") != std::string::npos);
}

TEST_CASE("alphagenome.config: what cannot be is told by its key", "[alphagenome]") {
  CHECK(error_of(R"({"qk_head_dim": 7})").find("qk_head_dim is 7; expected an even") !=
        std::string::npos);
  CHECK(error_of(R"({"num_organisms": -1})").find("num_organisms") != std::string::npos);
  CHECK(error_of(R"({"num_channels": 0})").find("num_channels") != std::string::npos);
  CHECK(error_of(R"({"track_heads": {"a/b": 1}})").find("expected names of") != std::string::npos);
  CHECK(error_of(R"({"v_head_dim": 256})").find("v_head_dim is 256; GPUs take up to 192") !=
        std::string::npos);
  CHECK(error_of(R"({"pair_channels": 200})").find("pair_channels is 200") != std::string::npos);
}

TEST_CASE("alphagenome.weights: a folder of another shape is told in one message",
          "[alphagenome]") {
  const test::Folder folder;
  const std::string tiny = test::model_data(test::kTinyAlphaGenome);
  std::string config = test::read_file(tiny + "/config.json");
  config.replace(config.find("\"num_heads\": 2"), 14, "\"num_heads\": 3");
  folder.write("config.json", config);
  folder.write("model.safetensors", test::read_file(tiny + "/model.safetensors"));
  const auto context = ops::make_cpu_context(1);
  try {
    models::AlphaGenome model(folder.path(), ModelConfig(folder.path()), *context, {});
    FAIL("it was loaded");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::bad_input);
    CHECK(std::string(error.what()).find("q_proj.weight [12, 20] instead of [18, 20]") !=
          std::string::npos);
    CHECK(std::string(error.what()).size() < 600);
  }
}
