#include "lib/models/enformer/config.hpp"

#include <string>
#include <vector>

#include "lib/core/error.hpp"
#include "tests/models/enformer/vectors.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/infer/folder.hpp"

using namespace biogpu;
using models::find_head;
using models::ModelConfig;
using models::enformer::Config;
using models::enformer::GammaForm;

namespace {

Config read(const std::string& json) {
  const test::Folder folder;
  folder.write("config.json", json);
  return models::enformer::read_config(ModelConfig(folder.path()));
}

}  // namespace

TEST_CASE("enformer.config: the published model is what an empty file says", "[enformer][model]") {
  const Config config = read("{}");
  CHECK(config.channels == std::vector<std::int64_t>{768, 768, 896, 1024, 1152, 1280, 1536});
  CHECK(config.n_positions == 1536);
  CHECK(config.n_bins == 896);
  CHECK(config.first_bin == 320);
  CHECK(config.bin_size() == 128);
  CHECK(config.first_base() == 40960);
  CHECK(config.d_value == 192);
  REQUIRE(find_head(config.heads, "mouse") != nullptr);
  CHECK(find_head(config.heads, "mouse")->n_tracks == 1643);
  CHECK(find_head(config.heads, "human")->n_tracks == 5313);
  CHECK(find_head(config.heads, "rat") == nullptr);
  CHECK(!config.gamma);
}

TEST_CASE("enformer.config: shapes for a CPU alone are refused by the key's name",
          "[enformer][model]") {
  const auto error = [](const std::string& json) -> std::string {
    const test::Folder folder;
    folder.write("config.json", json);
    const ModelConfig file(folder.path());
    const Config config = models::enformer::read_config(file);
    try {
      models::enformer::require_gpu_shape(file, config);
    } catch (const Error& e) {
      CHECK(e.code() == ErrorCode::bad_input);
      return e.what();
    }
    return "no error";
  };
  CHECK(error("{}") == "no error");
  CHECK(error(R"({"attn_dim_key": 56})") == "no error");
  CHECK(error(R"({"heads": 4})") == "no error");  // values of 384 numbers
  CHECK(error(R"({"attn_dim_key": 60})") == "no error");
  CHECK(error(R"({"dim": 240, "heads": 8, "dim_divisible_by": 8})") == "no error");
  CHECK(error(R"({"dim": 1512, "heads": 9, "dim_divisible_by": 12})") == "no error");
  const std::string what = error(R"({"attn_dim_key": 72})");
  INFO(what);
  CHECK(what.find("config.json: attn_dim_key is 72; GPUs take up to 64") != std::string::npos);
}

TEST_CASE("enformer.config: a small model", "[enformer][model]") {
  const Config config =
      models::enformer::read_config(ModelConfig(test::model_data("enformer_tiny")));
  CHECK(config.channels == std::vector<std::int64_t>{24, 24, 32, 48});
  CHECK(config.n_positions == 64);
  CHECK(config.n_bins == 16);
  CHECK(config.first_bin == 24);
  CHECK(config.heads.size() == 2);
}

TEST_CASE("enformer.config: crops as enformer-pytorch does", "[enformer][model]") {
  const std::string rest = R"(, "sequence_length": 1024, "num_downsamples": 4})";
  const auto bins = [&](int length) {
    const Config config = read("{\"target_length\": " + std::to_string(length) + rest);
    return std::vector<std::int64_t>{config.first_bin, config.n_bins};
  };
  CHECK(bins(-1) == std::vector<std::int64_t>{0, 64});
  CHECK(bins(64) == std::vector<std::int64_t>{0, 64});
  CHECK(bins(62) == std::vector<std::int64_t>{1, 62});
  CHECK(bins(61) == std::vector<std::int64_t>{2, 60});  // one row fewer than asked for
  CHECK(bins(2) == std::vector<std::int64_t>{31, 2});
}

TEST_CASE("enformer.config: what the model cannot be is refused by key", "[enformer][model]") {
  const auto refused = [](const std::string& json, const std::string& why) {
    std::string what = "no error";
    try {
      read(json);
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::bad_input);
      what = error.what();
    }
    INFO(json << ": " << what);
    CHECK(what.find("config.json: ") != std::string::npos);
    CHECK(what.find(why) != std::string::npos);
  };
  refused(R"({"dim": 0})", "dim is 0");
  refused(R"({"dim": 1537})", "dim is 1537; expected an even number");
  refused(R"({"dim": 70000})", "dim is 70000");
  refused(R"({"dim": 1500})", "dim_divisible_by 128");
  refused(R"({"dim": 64, "heads": 2, "dim_divisible_by": 128})", "dim_divisible_by 128");
  refused(R"({"heads": 7})", "heads is 7; expected a multiple");
  refused(R"({"heads": 3, "dim_divisible_by": 512, "dim": 1536, "num_downsamples": 2})",
          "num_downsamples is 2");
  refused(R"({"heads": 48})", "to be a multiple of 6");
  refused(R"({"num_downsamples": 40})", "num_downsamples is 40");
  refused(R"({"depth": "eleven"})", "depth is \"eleven\"");
  refused(R"({"attn_dim_key": 0})", "attn_dim_key is 0");
  refused(R"({"sequence_length": 2097153})", "expected at most 2097152");
  refused(R"({"sequence_length": 100000000000})", "sequence_length");
  refused(R"({"sequence_length": 4194304, "num_downsamples": 3})", "at most 131072");
  refused(R"({"target_length": 0})", "target_length is 0");
  refused(R"({"target_length": 1537})", "expected -1 or 1 to 1536");
  refused(R"({"target_length": 1})", "nothing is left");
  refused(R"({"target_length": 1e30})", "target_length");
  refused(R"({"output_heads": {}})", "output_heads is empty");
  refused(R"({"output_heads": ["human"]})", "output_heads is a list");
  refused(R"({"output_heads": {"human": 0}})", "output_heads has 0 for 'human'");
  refused(R"({"output_heads": {"a/b": 3}})", "the name 'a/b'");
  refused(R"({"gamma": "table"})", "gamma is 'table'");
  CHECK(read(R"({"gamma": "positions"})").gamma == GammaForm::positions);
}
