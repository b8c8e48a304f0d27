#include "lib/models/molscribe/molscribe.hpp"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lib/core/error.hpp"
#include "lib/io/images/image_file.hpp"
#include "lib/ops/cpu/cpu_context.hpp"
#include "tests/models/molscribe/model_support.hpp"
#include "tests/support/catch.hpp"

using namespace biogpu;
using models::MolScribe;
using models::molscribe::MoleculeGraph;
using models::molscribe::PreparedImage;
using test::kMolscribeFolder;

namespace {

// A copy of the folder in which one file is another.
class ChangedFolder {
 public:
  ChangedFolder() {
    folder_ = std::filesystem::temp_directory_path() / "biogpu_molscribe_test";
    std::filesystem::remove_all(folder_);
    std::filesystem::copy(kMolscribeFolder, folder_);
  }
  ~ChangedFolder() { std::filesystem::remove_all(folder_); }
  void write(const char* name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  std::string error() const {
    const auto context = ops::make_cpu_context(1);
    try {
      test::load_molscribe(*context, folder_);
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace

TEST_CASE("models.molscribe: pictures, encoder, tokens and bonds equal the reference's") {
  const auto context = ops::make_cpu_context(2);
  const auto model = test::load_molscribe(*context);
  const nlohmann::json expected = test::expected_graphs();
  const test::Pictures pictures = test::read_pictures(*model, expected);
  test::check_encoded(*model, pictures, expected, 1e-5);
  test::check_graphs(*model, pictures, expected, 5e-4);
}

TEST_CASE("models.molscribe: a picture's graph does not depend on the others or on threads") {
  const auto context = ops::make_cpu_context(2), single = ops::make_cpu_context(1);
  const auto model = test::load_molscribe(*context), other = test::load_molscribe(*single);
  test::Pictures pictures = test::read_pictures(*model, test::expected_graphs());
  const std::vector<MoleculeGraph> together = model->recognize(pictures.images);
  for (std::size_t i = 0; i < pictures.images.size(); ++i) {
    test::check_same(model->recognize(std::span(pictures.images).subspan(i, 1))[0], together[i]);
    test::check_same(other->recognize(std::span(pictures.images).subspan(i, 1))[0], together[i]);
  }
  // More than there are rows: rows that are done are given the next one.
  std::vector<PreparedImage> many;
  while (many.size() < 40) many.insert(many.end(), pictures.images.begin(), pictures.images.end());
  const std::vector<MoleculeGraph> refilled = model->recognize(many);
  for (std::size_t i = 0; i < many.size(); ++i)
    test::check_same(refilled[i], together[i % together.size()]);
  CHECK(model->recognize({}).empty());
}

TEST_CASE("models.molscribe: wrong folders are errors of one line") {
  const ChangedFolder folder;
  CHECK(folder.error().empty());
  nlohmann::json config = nlohmann::json::parse(std::ifstream(kMolscribeFolder + "/config.json"));
  const auto with = [&](const char* key, const nlohmann::json& value) {
    nlohmann::json changed = config;
    changed[key] = value;
    folder.write("config.json", changed.dump());
    return folder.error();
  };
  CHECK(with("encoder", "resnet50").find("encoder is 'resnet50'") != std::string::npos);
  CHECK(with("formats", nlohmann::json::array({"edges"})).find("formats") != std::string::npos);
  CHECK(with("continuous_coords", true).find("continuous_coords") != std::string::npos);
  CHECK(with("input_size", 100).find("whole windows") != std::string::npos);
  CHECK(with("dec_attn_heads", 5).find("5 heads") != std::string::npos);
  CHECK(with("coord_bins", 9).find("output_layer") != std::string::npos);
  CHECK(with("vocab_file", "../x").find("vocab_file is '../x'") != std::string::npos);
  CHECK(with("swin_depths", nlohmann::json::array({2, 2, 2, 2})).find("layers.2.blocks.1") !=
        std::string::npos);
  folder.write("config.json", config.dump());
  folder.write("vocab_chars.json", R"({"<pad>": 0})");
  CHECK(folder.error().find("vocab_chars.json: expected an object") != std::string::npos);
  nlohmann::json tokens =
      nlohmann::json::parse(std::ifstream(kMolscribeFolder + "/vocab_chars.json"));
  tokens["C"] = 3;
  folder.write("vocab_chars.json", tokens.dump());
  CHECK(folder.error().find("has the number 3") != std::string::npos);
  const nlohmann::json known =
      nlohmann::json::parse(std::ifstream(kMolscribeFolder + "/vocab_chars.json"));
  for (const std::string& text : {std::string(), std::string("Cl"), std::string(3000, 'C')}) {
    nlohmann::json others = nlohmann::json::object();
    for (const auto& [token, number] : known.items()) others[number == 40 ? text : token] = number;
    folder.write("vocab_chars.json", others.dump());
    CHECK(folder.error().find("expected one character") != std::string::npos);
  }
  folder.write("vocab_chars.json", "[");
  CHECK(folder.error().find("vocab_chars.json") != std::string::npos);
}

TEST_CASE("models.molscribe: an atom of unknown tokens has a confidence") {
  const models::molscribe::Vocabulary vocabulary(kMolscribeFolder + "/vocab_chars.json", 8);
  const auto number_of = [&](const std::string& text) {
    std::int32_t id = 0;
    while (vocabulary.text(id) != text) ++id;
    return id;
  };
  // [<unk><unk>] has 12 characters and four tokens, before which there are none.
  const std::int32_t unknown = models::molscribe::Vocabulary::kUnknown, x = vocabulary.n_symbols();
  const std::vector<std::int32_t> tokens{number_of("["),
                                         unknown,
                                         unknown,
                                         number_of("]"),
                                         x + 3,
                                         x + 8 + 5,
                                         models::molscribe::Vocabulary::kStop};
  const std::vector<float> log_probabilities{-0.5f, -1, -0.25f, -2, -7, -9, -11};
  const MoleculeGraph graph = models::molscribe::read_tokens(vocabulary, tokens, log_probabilities);
  REQUIRE(graph.atoms.size() == 1);
  CHECK(graph.atoms[0].symbol == "[<unk><unk>]");
  CHECK(graph.atoms[0].confidence == Approx(std::exp(-3.75 / 12)));
}

TEST_CASE("models.molscribe: all white, one pixel and huge margins") {
  const auto context = ops::make_cpu_context(2);
  const auto model = test::load_molscribe(*context);
  const auto prepare = [&](std::uint32_t width, std::uint32_t height, std::uint8_t colour) {
    const std::vector<std::uint8_t> rgb(std::size_t{3} * width * height, colour);
    return models::molscribe::prepare_image({width, height, rgb}, model->config().input_size);
  };
  const std::vector<PreparedImage> images{prepare(1, 1, 0), prepare(1, 1, 255),
                                          prepare(300, 2, 255)};
  CHECK(images[1].gray == images[2].gray);
  CHECK(model->recognize(images).size() == 3);
  // White around a picture changes nothing.
  test::Pictures pictures = test::read_pictures(*model, test::expected_graphs());
  const io::images::Image& image = pictures.originals[0];
  io::images::Image wide{image.width + 40, image.height + 7, {}};
  wide.rgb.assign(std::size_t{3} * wide.width * wide.height, 255);
  for (std::size_t y = 0; y < image.height; ++y)
    std::copy_n(&image.rgb[3 * y * image.width], 3 * image.width,
                &wide.rgb[3 * ((y + 3) * wide.width + 25)]);
  CHECK(models::molscribe::prepare_image(wide, model->config().input_size).gray ==
        pictures.images[0].gray);
}
