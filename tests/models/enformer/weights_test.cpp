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
