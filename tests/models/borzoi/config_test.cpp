#include "lib/models/borzoi/config.hpp"

#include <string>
#include <vector>

#include "lib/core/error.hpp"
#include "tests/models/enformer/vectors.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/infer/folder.hpp"

using namespace biogpu;
using models::ModelConfig;
using models::borzoi::Config;

namespace {

Config read(const std::string& json) {
  const test::Folder folder;
  folder.write("config.json", json);
  return models::borzoi::read_config(ModelConfig(folder.path()));
}

void check_refused(const std::string& json, const std::string& why, bool on_gpu = false) {
  const test::Folder folder;
  folder.write("config.json", json);
  std::string what = "no error";
  try {
    const ModelConfig file(folder.path());
    const Config config = models::borzoi::read_config(file);
    if (on_gpu) models::borzoi::require_gpu_shape(file, config);
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::bad_input);
    what = error.what();
  }
  INFO(json << ": " << what);
  CHECK(what.find("config.json: ") != std::string::npos);
  CHECK(what.find(why) != std::string::npos);
}

}  // namespace

TEST_CASE("borzoi.config: the published model is what an empty file says", "[borzoi][model]") {
  const Config config = read("{}");
  CHECK(config.channels == std::vector<std::int64_t>{512, 608, 736, 896, 1056, 1280, 1536});
  CHECK(config.sequence_length == 524288);
  CHECK(config.n_positions() == 4096);
  CHECK(config.bin_size() == 32);
  CHECK(config.n_rows() == 16384);
  CHECK(config.bins.n == 6144);
  CHECK(config.bins.first == 5120);
  CHECK(config.first_base() == 163840);
  CHECK(config.d_key == 64);
  CHECK(config.d_value == 192);
  REQUIRE(config.heads.size() == 1);
  CHECK(config.heads[0].name == "human");
  CHECK(config.heads[0].n_tracks == 7611);
  CHECK(std::string(config.name()) == "Borzoi");
}

TEST_CASE("borzoi.config: Flashzoi, both heads, all bins but those at the ends",
          "[borzoi][model]") {
  const Config config =
      read(R"({"flashed": true, "enable_mouse_head": true, "return_center_bins_only": false})");
  CHECK(config.is_flash);
  CHECK(config.n_key_heads == 4);
  CHECK(config.d_key == 192);
  CHECK(config.d_value == 192);
  CHECK(config.n_rotated == 128);
  CHECK(config.bins.first == 16);
  CHECK(config.bins.n == 16352);
  REQUIRE(config.heads.size() == 2);
  CHECK(config.heads[1].n_tracks == 2608);
  CHECK(std::string(config.name()) == "Flashzoi");
}

TEST_CASE("borzoi.config: small models", "[borzoi][model]") {
  const Config config = models::borzoi::read_config(ModelConfig(test::model_data("borzoi_tiny")));
  CHECK(config.channels == std::vector<std::int64_t>{16, 16, 24, 24, 32, 40, 48});
  CHECK(config.n_positions() == 32);
  CHECK(config.bins.n == 60);
  CHECK(config.final_width == 56);
}

TEST_CASE("borzoi.config: what the model cannot be is refused by key", "[borzoi][model]") {
  check_refused(R"({"dim": 0})", "dim is 0");
  check_refused(R"({"dim": 70000})", "dim is 70000");
  check_refused(R"({"depth": "eight"})", "depth is \"eight\"");
  check_refused(R"({"attn_dim_key": 0})", "attn_dim_key is 0");
  check_refused(R"({"attn_dim_value": -1})", "attn_dim_value is -1");
  check_refused(R"({"flashed": 1})", "flashed is 1; expected true or false");
  check_refused(R"({"flashed": true, "heads": 7})", "expected an even number of heads");
  check_refused(R"({"flashed": true, "heads": 10})", "dim is 1536 and heads is 10");
  check_refused(R"({"flashed": true, "heads": 16})", "up to dim / heads, 96");
  check_refused(R"({"flashed": true, "rotary_emb_dim": 63})", "63 numbers of a head are rotated");
  check_refused(R"({"sequence_length": 524289})", "from 1 to 524288");
  check_refused(R"({"sequence_length": 524287})",
                "which is 16383 whole bins of 32; expected a multiple of 4 bins");
  check_refused(R"({"sequence_length": 31})", "expected a multiple of 4 bins");
  check_refused(R"({"sequence_length": 1024})", "bins_to_return is 6144; expected -1 or 1 to 32");
  check_refused(R"({"bins_to_return": 0})", "bins_to_return is 0");
  check_refused(R"({"sequence_length": 196608, "return_center_bins_only": false})",
                "return_center_bins_only false");
  check_refused(R"({"conv_channels": [512, 608]})",
                "conv_channels is a list; expected a list of 6");
  check_refused(R"({"conv_channels": 512})", "conv_channels is 512; expected a list of 6");
  check_refused(R"({"conv_channels": [1, 2, 3, 4, 5, 0]})", "conv_channels has 0");
  check_refused(R"({"conv_channels": [1, 2, 3, 4, 5, "6"]})", "conv_channels has \"6\"");
  check_refused(R"({"final_channels": 1e9})", "final_channels is 1000000000");
  check_refused(R"({"enable_human_head": false})", "no head is left");
  check_refused(R"({"output_heads": {"a/b": 3}})", "the name 'a/b'");
}

TEST_CASE("borzoi.config: shapes for a CPU alone are refused by the key's name",
          "[borzoi][model]") {
  check_refused(R"({"attn_dim_key": 72})", "attn_dim_key is 72; GPUs take up to 64", true);
  check_refused(R"({"flashed": true, "dim": 1568})", "dim / heads is 196", true);
  check_refused(R"({"flashed": true, "heads": 6})", "dim / heads is 256", true);
  const test::Folder folder;
  folder.write("config.json", R"({"flashed": true})");
  const ModelConfig file(folder.path());
  models::borzoi::require_gpu_shape(file, models::borzoi::read_config(file));
}
