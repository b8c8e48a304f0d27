#include <fstream>
#include <nlohmann/json.hpp>

#include "lib/core/error.hpp"
#include "lib/ops/cpu/cpu_context.hpp"
#include "tests/models/diffusion_transformer/model_support.hpp"
#include "tests/unit/infer/folder.hpp"

using namespace biogpu;
using test::difference;
using test::LoadedDiffusion;

namespace {

std::unique_ptr<tensor::Context> cpu() { return ops::make_cpu_context(2); }

// The tiny folder with another config.json.
std::string error_of_config(const std::string& key, const nlohmann::json& value) {
  const test::Folder folder;
  std::ifstream file(test::diffusion_data("tiny") + "/config.json");
  nlohmann::json config = nlohmann::json::parse(file);
  config[key] = value;
  folder.write("config.json", config.dump());
  std::filesystem::copy(test::diffusion_data("tiny") + "/model.safetensors", folder.path());
  const auto context = cpu();
  try {
    models::load_model<models::DiffusionTransformer>(folder.path(), "trunk", *context);
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::bad_input);
    return error.what();
  }
  return "";
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("diffusion_transformer: the CPU equals double precision but for roundings", "[model]") {
  for (const std::string name : {"tiny", "boltz"}) {
    LoadedDiffusion loaded(cpu(), name);
    for (const std::string mask : {"full", "padded"}) {
      CAPTURE(name, mask);
      const models::Outputs outputs = loaded.model().run(loaded.input(mask));
      REQUIRE(outputs.arrays().size() == 1);
      const auto apart = difference(outputs.at("a").values, loaded.numbers(mask + "/out/a"));
      CHECK(apart.largest < 2e-5);
    }
  }
}

TEST_CASE("diffusion_transformer: what is behind the mask changes no real token", "[model]") {
  const std::string name = GENERATE("tiny", "boltz");
  LoadedDiffusion loaded(cpu(), name);
  const models::TrunkInput input = loaded.input("padded");
  const std::int64_t n = input.n_tokens, c_pair = loaded.model().info().shape.c_pair;
  std::int64_t n_real = 0;
  while (n_real < n && input.mask[static_cast<std::size_t>(n_real)] != 0) ++n_real;
  REQUIRE(n_real < n);
  const auto real = [&](const io::SharedArray& x) {
    return x.piece(0, x.size() / static_cast<std::size_t>(n) * static_cast<std::size_t>(n_real));
  };
  models::TrunkInput changed = input, cropped;
  changed.noisy = io::SharedArray(input.noisy.begin(), input.noisy.end());
  for (std::size_t i = real(input.noisy).size(); i < changed.noisy.size(); ++i)
    changed.noisy.data()[i] = 70;
  cropped.n_tokens = n_real;
  cropped.noisy = real(input.noisy);
  cropped.single = real(input.single);
  std::vector<float> pairs;
  for (std::int64_t i = 0; i < n_real; ++i)
    for (std::int64_t e = 0; e < n_real * c_pair; ++e)
      pairs.push_back(input.pair[static_cast<std::size_t>(i * n * c_pair + e)]);
  cropped.pair = pairs;
  const auto one = loaded.model().run(changed), other = loaded.model().run(cropped);
  CHECK(difference(real(one.at("a").values), other.at("a").values).largest < 1e-5);
}

TEST_CASE("diffusion_transformer: one token, and the same bytes with one thread", "[model]") {
  LoadedDiffusion two(cpu(), "tiny"), one(ops::make_cpu_context(1), "tiny");
  const models::TrunkInput input = two.input("full");
  CHECK(two.model().run(input).at("a").values == one.model().run(input).at("a").values);
  models::TrunkInput single;
  single.n_tokens = 1;
  single.noisy = std::vector<float>(21, 0.5f);
  single.single = std::vector<float>(18, 0.25f);
  single.pair = std::vector<float>(11, -1.0f);
  for (const float number : two.model().run(single).at("a").values) CHECK(std::isfinite(number));
  CHECK(two.model().measure(30) > two.model().measure(10));
}

TEST_CASE("diffusion_transformer: a folder that does not fit is told", "[model]") {
  CHECK(has(error_of_config("n_blocks", 3), "blocks.2."));
  CHECK(has(error_of_config("n_blocks", 1), "are unknown: blocks.1."));
  CHECK(has(error_of_config("n_heads", 4), "c_token is 21, no multiple of n_heads, 4"));
  CHECK(has(error_of_config("c_s", 19), "have another shape or type"));
  CHECK(has(error_of_config("n_transition", 0), "n_transition"));
  const std::string text = models::describe_model(test::diffusion_data("boltz"));
  CHECK(has(text, "architecture\tdiffusion transformer\nblocks\t2\n"));
  CHECK(has(text, "heads\t4 x 5\n"));
}
