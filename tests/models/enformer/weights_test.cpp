#include <optional>
#include <string>
#include <vector>

#include "lib/core/error.hpp"
#include "lib/ops/cpu/cpu_context.hpp"
#include "tests/models/enformer/model_support.hpp"
#include "tests/models/enformer/rewritten.hpp"
#include "tests/unit/infer/folder.hpp"

using namespace biogpu;
using models::Enformer;
using models::enformer::GammaForm;
using test::LoadedEnformer;
using test::RawTensors;

namespace {

// A folder with the tiny model's config and other tensors.
std::string make_folder(const test::Folder& folder, const std::string& weights) {
  folder.write("config.json", test::read_file(test::model_data(test::kTiny + "/config.json")));
  folder.write("model.safetensors", weights);
  return folder.path();
}

RawTensors tiny_tensors() { return test::read_raw(test::model_data(test::kTiny)); }

std::vector<float> human_tracks(const std::string& folder) {
  LoadedEnformer loaded(ops::make_cpu_context(2), {}, folder);
  return test::of_window(loaded.run({test::tiny_windows()[0]}), "tracks.human", 0, 1);
}

// The error of loading these tensors.
std::string error_of(const std::string& weights, const Enformer::Options& options = {}) {
  const test::Folder folder;
  try {
    LoadedEnformer(ops::make_cpu_context(2), options, make_folder(folder, weights));
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::bad_input);
    return error.what();
  }
  return "no error";
}

void check_error(const RawTensors& tensors, const std::vector<std::string>& parts,
                 const Enformer::Options& options = {}) {
  const std::string what = error_of(test::to_safetensors(tensors), options);
  INFO(what);
  for (const std::string& part : parts) CHECK(what.find(part) != std::string::npos);
}

// The tiny model with eight times its widths and 1,536 positions, in zeros: the size of the
// official table.
std::string make_table_sized(const test::Folder& folder, const std::string& gamma) {
  std::string config = test::read_file(test::model_data(test::kTiny + "/config.json"));
  const auto set = [&](const std::string& key, const std::string& from, const std::string& to) {
    const std::string text = "\"" + key + "\": " + from;
    REQUIRE(config.find(text) != std::string::npos);
    config.replace(config.find(text), text.size(), "\"" + key + "\": " + to);
  };
  set("dim", "48", "384" + gamma);
  set("dim_divisible_by", "8", "64");
  set("sequence_length", "1024", "24576");
  RawTensors tensors = tiny_tensors();
  for (auto& [name, tensor] : tensors) {
    const bool of_keys = name.find(".to_q.") != std::string::npos ||
                         name.find(".to_k.") != std::string::npos ||
                         name.find(".to_rel_k.") != std::string::npos;
    for (std::size_t i = of_keys ? 1 : 0; i < tensor.shape.size(); ++i)
      if (tensor.shape[i] >= 24) {
        tensor.shape[i] *= 8;
        tensor.bytes.append(7 * tensor.bytes.size(), '\0');
      }
  }
  folder.write("config.json", config);
  folder.write("model.safetensors", test::to_safetensors(tensors));
  return folder.path();
}

std::string trunk_name(const std::string& name) {
  for (const auto& [from, to] : {std::pair("stem.", "_trunk.1."),
                                 {"conv_tower.", "_trunk.2."},
                                 {"transformer.", "_trunk.4."},
                                 {"final_pointwise.", "_trunk.6."}})
    if (name.starts_with(from)) return to + name.substr(std::string(from).size());
  return name;
}

}  // namespace

TEST_CASE("enformer.weights: either name of the trunk will do, and both if they are equal",
          "[enformer][model]") {
  const std::vector<float> right = human_tracks(test::model_data(test::kTiny));
  RawTensors renamed, both = tiny_tensors();
  for (const auto& [name, tensor] : tiny_tensors()) {
    renamed[trunk_name(name)] = tensor;
    both[trunk_name(name)] = tensor;
  }
  REQUIRE(renamed.count("_trunk.1.0.weight") == 1);
  const test::Folder folder;
  CHECK(human_tracks(make_folder(folder, test::to_safetensors(renamed))) == right);
  CHECK(human_tracks(make_folder(folder, test::to_safetensors(both))) == right);
  both["_trunk.1.0.bias"].bytes[0] ^= 1;
  check_error(both, {"1 differ from their copy under another name", "stem.0.bias"});
}

TEST_CASE("enformer.weights: all that is wrong is told at once", "[enformer][model]") {
  RawTensors tensors = tiny_tensors();
  tensors.erase("stem.2.to_attn_logits.weight");
  tensors.erase("transformer.1.0.fn.1.rel_pos_bias");
  tensors["conv_tower.0.0.2.weight"].shape = {24, 5, 24};
  tensors["transformer.0.0.fn.1.to_gate.weight"] = tensors["stem.0.bias"];
  tensors["_heads.mouse.0.bias"].bytes[1] = 0x7c;  // an infinity
  tensors["_heads.mouse.0.bias"].bytes[0] = 0;
  check_error(tensors, {"2 tensors are missing: stem.2.to_attn_logits.weight, "
                        "transformer.1.0.fn.1.rel_pos_bias",
                        "1 have another shape or type: conv_tower.0.0.2.weight [24, 5, 24] "
                        "instead of [24, 24, 5]",
                        "1 hold NaN or an infinity: _heads.mouse.0.bias",
                        "1 are unknown: transformer.0.0.fn.1.to_gate.weight"});
}

TEST_CASE("enformer.weights: a variance below zero is refused", "[enformer][model]") {
  RawTensors tensors = tiny_tensors();
  tensors["conv_tower.1.1.fn.0.running_var"].bytes[1] |= static_cast<char>(0x80);
  check_error(tensors, {"conv_tower.1.1.fn.0.running_var has a negative number"});
}

TEST_CASE("enformer.weights: heads that are not chosen need not be there", "[enformer][model]") {
  RawTensors tensors = tiny_tensors();
  tensors.erase("_heads.mouse.0.weight");
  check_error(tensors, {"1 tensors are missing: _heads.mouse.0.weight"});
  Enformer::Options options;
  options.weights.heads = {{"human", {}}};
  CHECK(error_of(test::to_safetensors(tensors), options) == "no error");
}

TEST_CASE("enformer.weights: a file cut short is refused", "[enformer][model]") {
  const std::string whole = test::to_safetensors(tiny_tensors());
  for (const std::size_t n : {std::size_t{0}, std::size_t{5}, std::size_t{1000}, whole.size() - 1})
    CHECK(error_of(whole.substr(0, n)).find("model.safetensors: ") != std::string::npos);
}

TEST_CASE("enformer.weights: a form of gamma that is guessed for the official size is told",
          "[enformer][model]") {
  const auto context = tensor::make_dry_run_context(tensor::Precision::fp32);
  const auto warning = [&](const std::string& folder, std::optional<GammaForm> gamma = {}) {
    Enformer::Options options;
    options.maps = tensor::WeightTable::Maps::only_checked;
    options.weights.gamma = gamma;
    const Enformer model(folder, models::ModelConfig(folder), *context, options);
    return model.info().warning;
  };
  const test::Folder plain, chosen, original;
  const std::string folder = make_table_sized(plain, "");
  CHECK(warning(folder).find("the official weights need the table") != std::string::npos);
  CHECK(warning(folder, GammaForm::features).empty());
  CHECK(warning(make_table_sized(chosen, R"(, "gamma": "features")")).empty());
  CHECK(warning(make_table_sized(original, R"(, "gamma": "positions")")).empty());
  CHECK(warning(test::model_data(test::kTiny)).empty());
}

TEST_CASE("enformer.weights: the table of gamma features is for its size alone",
          "[enformer][model]") {
  RawTensors tensors = tiny_tensors();
  Enformer::Options options;
  options.weights.gamma = GammaForm::tf_table;
  check_error(tensors, {"gamma is tf-table, which is for 1536 positions and 32 features"}, options);
  tensors["gamma_position_basis"] = {"F32", {3071, 32}, std::string(3071 * 32 * 4, '\0')};
  check_error(tensors, {"gamma is tf-table, which is for 1536 positions and 32 features"}, options);
  CHECK(error_of(test::to_safetensors(tensors)) == "no error");  // not read here
}
