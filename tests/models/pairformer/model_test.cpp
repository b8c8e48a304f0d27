#include <fstream>
#include <nlohmann/json.hpp>

#include "lib/core/error.hpp"
#include "lib/ops/cpu/cpu_context.hpp"
#include "tests/models/pairformer/model_support.hpp"
#include "tests/unit/infer/folder.hpp"

using namespace biogpu;
using test::difference;
using test::LoadedPairformer;
using test::pairformer_data;

namespace {

std::unique_ptr<tensor::Context> cpu() { return ops::make_cpu_context(2); }

std::string error_of_folder(const std::string& folder) {
  const auto context = cpu();
  try {
    models::load_model<models::Pairformer>(folder, "trunk", *context);
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::bad_input);
    return error.what();
  }
  return "";
}

// The tiny folder with another config.json.
std::string error_of_config(const std::string& key, const nlohmann::json& value) {
  const test::Folder folder;
  std::ifstream file(pairformer_data("tiny") + "/config.json");
  nlohmann::json config = nlohmann::json::parse(file);
  config[key] = value;
  folder.write("config.json", config.dump());
  std::filesystem::copy(pairformer_data("tiny") + "/model.safetensors", folder.path());
  return error_of_folder(folder.path());
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("pairformer: the CPU equals double precision but for roundings", "[model]") {
  for (const std::string name : {"tiny", "pairs", "msa", "evoformer", "boltz", "openfold3"}) {
    LoadedPairformer loaded(cpu(), pairformer_data(name));
    for (const std::string mask : {"full", "padded", "pairs"}) {
      CAPTURE(name, mask);
      const models::Outputs outputs = loaded.model().run(loaded.input(mask));
      for (const auto& array : outputs.arrays()) {
        CAPTURE(array.name);
        const auto apart = difference(array.values, loaded.numbers(mask + "/out/" + array.name));
        // Roundings of 2^-24 of sums, through two blocks whose stream grows.
        CHECK(apart.largest < 2e-5);
      }
      CHECK(outputs.arrays().size() == (loaded.model().info().c_single == 0 ? 1 : 2));
    }
  }
}

TEST_CASE("pairformer: what is behind the mask changes no real token", "[model]") {
  const std::string name = GENERATE("tiny", "msa", "boltz", "evoformer", "openfold3");
  CAPTURE(name);
  LoadedPairformer loaded(cpu(), pairformer_data(name));
  const models::TrunkInput input = loaded.input("padded");
  const std::int64_t n = input.n_tokens, c = loaded.model().info().pair.c_pair,
                     c_single = loaded.model().info().c_single;
  std::int64_t n_real = 0;
  while (n_real < n && input.mask[static_cast<std::size_t>(n_real)] != 0) ++n_real;
  REQUIRE(n_real < n);
  // The same tokens with other numbers behind them, and alone.
  models::TrunkInput changed = input, cropped;
  changed.pair = io::SharedArray(input.pair.begin(), input.pair.end());
  changed.single = io::SharedArray(input.single.begin(), input.single.end());
  std::vector<float> alone;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t e = 0; e < c; ++e) {
        const auto at = static_cast<std::size_t>((i * n + j) * c + e);
        if (i >= n_real || j >= n_real)
          changed.pair.data()[at] = 100;
        else
          alone.push_back(input.pair[at]);
      }
  for (std::int64_t i = n_real * c_single; i < n * c_single; ++i)
    changed.single.data()[static_cast<std::size_t>(i)] = -100;
  changed.msa = io::SharedArray(input.msa.begin(), input.msa.end());
  std::vector<float> rows, rows_mask;
  const std::int64_t c_msa = loaded.model().info().msa.c_msa;
  for (std::int64_t row = 0; row < input.n_rows; ++row)
    for (std::int64_t j = 0; j < n; ++j) {
      if (j < n_real) rows_mask.push_back(input.msa_mask[static_cast<std::size_t>(row * n + j)]);
      for (std::int64_t e = 0; e < c_msa; ++e) {
        const auto at = static_cast<std::size_t>((row * n + j) * c_msa + e);
        if (j < n_real)
          rows.push_back(input.msa[at]);
        else
          changed.msa.data()[at] = 50;
      }
    }
  cropped.n_rows = input.n_rows;
  cropped.msa = rows;
  cropped.msa_mask = rows_mask;
  cropped.n_tokens = n_real;
  cropped.pair = alone;
  cropped.single = input.single.piece(0, static_cast<std::size_t>(n_real * c_single));
  const models::Outputs one = loaded.model().run(changed), other = loaded.model().run(cropped);
  if (c_single > 0) {
    const auto& s = one.at("s").values;
    CHECK(difference(s.piece(0, static_cast<std::size_t>(n_real * c_single)), other.at("s").values)
              .largest < 1e-5);
  }
  std::vector<float> real;
  for (std::int64_t i = 0; i < n_real; ++i)
    for (std::int64_t j = 0; j < n_real * c; ++j)
      real.push_back(one.at("z").values[static_cast<std::size_t>(i * n * c + j)]);
  CHECK(difference(real, other.at("z").values).largest < 1e-5);
}

TEST_CASE("pairformer: the same bytes with one thread, with two, and again", "[model]") {
  LoadedPairformer one(ops::make_cpu_context(1), pairformer_data("tiny")),
      two(cpu(), pairformer_data("tiny"));
  const models::TrunkInput input = one.input("pairs");
  const models::Outputs right = one.model().run(input);
  for (int turn = 0; turn < 2; ++turn) {
    const models::Outputs outputs = two.model().run(input);
    for (const std::string name : {"s", "z"})
      CHECK(outputs.at(name).values == right.at(name).values);
  }
}

TEST_CASE("pairformer: rows of the alignment in another order, and one alone", "[model]") {
  LoadedPairformer loaded(cpu(), pairformer_data("msa"));
  const models::TrunkInput input = loaded.input("full");
  const auto size = static_cast<std::size_t>(input.n_tokens * loaded.model().info().msa.c_msa);
  models::TrunkInput turned = input, one = input, twice = input;
  std::vector<float> rows;
  for (std::int64_t row = input.n_rows; row-- > 0;) {
    const auto* const first = input.msa.data() + static_cast<std::size_t>(row) * size;
    rows.insert(rows.end(), first, first + size);
  }
  turned.msa = rows;
  one.n_rows = 1;
  one.msa = std::vector<float>(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(size));
  twice.msa = rows;
  twice.msa_mask = std::vector<float>(static_cast<std::size_t>(input.n_rows * input.n_tokens));
  for (std::int64_t i = 0; i < input.n_tokens; ++i)  // the first row alone
    twice.msa_mask.data()[static_cast<std::size_t>(i)] = 1;
  const auto z_of = [&](const models::TrunkInput& of) {
    return loaded.model().run(of).at("z").values;
  };
  const auto right = z_of(input), alone = z_of(one);
  CHECK(difference(z_of(turned), right).largest < 1e-5);
  CHECK(difference(alone, right).largest > 0.1);
  CHECK(difference(z_of(twice), alone).largest < 1e-5);
}

TEST_CASE("pairformer: one token, and none of the pairs seen", "[model]") {
  LoadedPairformer loaded(cpu(), pairformer_data("tiny"));
  models::TrunkInput input;
  input.n_tokens = 1;
  input.pair = std::vector<float>(20, 0.5f);
  input.single = std::vector<float>(30, 0.25f);
  input.pair_mask = std::vector<float>(1, 0.0f);
  const models::Outputs outputs = loaded.model().run(input);
  for (const std::string name : {"s", "z"})
    for (const float number : outputs.at(name).values) CHECK(std::isfinite(number));
}

TEST_CASE("pairformer: a folder that does not fit is told by key or tensor", "[model]") {
  CHECK(has(error_of_config("n_blocks", 3), "blocks.2."));
  CHECK(has(error_of_config("n_blocks", 1), "are unknown: blocks.1."));
  CHECK(has(error_of_config("n_blocks", 0), "n_blocks"));
  CHECK(has(error_of_config("c_z", 21), "have another shape or type"));
  CHECK(has(error_of_config("c_s", -1), "c_s is -1"));
  CHECK(has(error_of_config("n_heads", 4), "no multiple of n_heads, 4"));
  CHECK(has(error_of_config("c_s", 0), "are unknown"));
  CHECK(has(error_of_config("no_heads_pair", 1000000), "no_heads_pair"));
  CHECK(has(error_of_config("n_msa_blocks", -1), "n_msa_blocks is -1"));
  CHECK(has(error_of_config("n_msa_blocks", 1), "msa_module.blocks.0."));
  CHECK(has(error_of_config("opm_first", "no"), "opm_first"));
}

TEST_CASE("pairformer: a description of the folder", "[model]") {
  const std::string text = models::describe_model(pairformer_data("tiny"));
  CHECK(has(text, "blocks\t2\n"));
  CHECK(has(text, "triangle_attention_heads\t3 x 6\n"));
  CHECK(has(text, "single_width\t30\n"));
  CHECK(has(text, "msa_blocks\t0\n"));
  CHECK(has(models::describe_model(pairformer_data("msa")), "msa_width\t11\n"));
  CHECK(has(models::describe_model(pairformer_data("pairs")), "triangle_attention_heads\t2 x 8\n"));
}
