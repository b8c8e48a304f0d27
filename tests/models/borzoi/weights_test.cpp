#include <string>
#include <vector>

#include "lib/core/error.hpp"
#include "lib/models/base/registry.hpp"
#include "lib/ops/cpu/cpu_context.hpp"
#include "tests/models/borzoi/model_support.hpp"
#include "tests/models/enformer/rewritten.hpp"
#include "tests/unit/infer/folder.hpp"

using namespace biogpu;
using models::Borzoi;
using test::kBorzoi;
using test::kFlashzoi;
using test::LoadedBorzoi;
using test::model_data;
using test::RawTensors;

namespace {

RawTensors tensors_of(const std::string& folder) { return test::read_raw(model_data(folder)); }

// The error of loading these tensors with a tiny model's config.
std::string error_of(const std::string& folder, const std::string& weights,
                     const Borzoi::Options& options = {}) {
  const test::Folder written;
  written.write("config.json", test::read_file(model_data(folder + "/config.json")));
  written.write("model.safetensors", weights);
  try {
    LoadedBorzoi(ops::make_cpu_context(2), written.path(), options);
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::bad_input);
    return error.what();
  }
  return "no error";
}

void check_error(const std::string& what, const std::vector<std::string>& parts) {
  INFO(what);
  for (const std::string& part : parts) CHECK(what.find(part) != std::string::npos);
}

}  // namespace

TEST_CASE("borzoi.weights: all that is wrong is told at once", "[borzoi][model]") {
  RawTensors tensors = tensors_of(kBorzoi);
  tensors.erase("separable1.conv_layer.0.weight");
  tensors.erase("transformer.1.0.fn.1.rel_pos_bias");
  tensors["res_tower.4.conv_layer.weight"].shape = {24, 5, 24};
  tensors["transformer.0.0.fn.1.to_gate.weight"] = tensors["conv_dna.conv_layer.bias"];
  check_error(error_of(kBorzoi, test::to_safetensors(tensors)),
              {"2 tensors are missing: transformer.1.0.fn.1.rel_pos_bias, "
               "separable1.conv_layer.0.weight",
               "1 have another shape or type: res_tower.4.conv_layer.weight [24, 5, 24] instead of "
               "[24, 24, 5]",
               "1 are unknown: transformer.0.0.fn.1.to_gate.weight"});
  // Flashzoi's attention is another one.
  check_error(error_of(kBorzoi, test::to_safetensors(tensors_of(kFlashzoi))),
              {"transformer.0.0.fn.1.to_q.weight", "transformer.0.0.fn.1.mha.Wqkv.weight"});
}

TEST_CASE("borzoi.weights: a variance below zero is refused", "[borzoi][model]") {
  RawTensors tensors = tensors_of(kFlashzoi);
  tensors["horizontal_conv0.norm.running_var"].bytes[1] |= static_cast<char>(0x80);
  check_error(error_of(kFlashzoi, test::to_safetensors(tensors)),
              {"horizontal_conv0.norm.running_var has a negative number"});
}

TEST_CASE("borzoi.weights: heads that are not chosen need not be there", "[borzoi][model]") {
  RawTensors tensors = tensors_of(kBorzoi);
  tensors.erase("mouse_head.weight");
  check_error(error_of(kBorzoi, test::to_safetensors(tensors)),
              {"1 tensors are missing: mouse_head.weight"});
  Borzoi::Options options;
  options.heads = {{"human", {}}};
  CHECK(error_of(kBorzoi, test::to_safetensors(tensors), options) == "no error");
}

TEST_CASE("borzoi.weights: a file cut short is refused", "[borzoi][model]") {
  const std::string whole = test::to_safetensors(tensors_of(kFlashzoi));
  for (const std::size_t n : {std::size_t{0}, std::size_t{5}, std::size_t{1000}, whole.size() - 1})
    CHECK(error_of(kFlashzoi, whole.substr(0, n)).find("model.safetensors: ") != std::string::npos);
}

TEST_CASE("borzoi.weights: a folder describes itself", "[borzoi][model]") {
  const std::string text = models::describe_model(model_data(kFlashzoi));
  for (const char* line :
       {"architecture\tFlashzoi\n", "window\t4096 bases\n",
        "bins\t40 of 32 bases, from base 1408 of the window on\n", "tracks_human\t7\n"})
    CHECK(text.find(line) != std::string::npos);
  CHECK(models::describe_model(model_data(kBorzoi)).find("architecture\tBorzoi\n") !=
        std::string::npos);
}
