#include "lib/models/base/registry.hpp"

#include <filesystem>
#include <set>
#include <string>

#include "lib/core/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/infer/folder.hpp"
#include "tests/unit/infer/loaded.hpp"

using namespace biogpu;
using test::kData;

TEST_CASE("models.registry: every kind has a type, tasks and a loader", "[models]") {
  std::set<std::string> types;
  for (const models::ModelDef& model : models::registry()) {
    CAPTURE(model.name);
    CHECK(types.insert(model.model_type).second);
    CHECK_FALSE(model.tasks.empty());
    CHECK(model.load != nullptr);
  }
}

TEST_CASE("models.registry: a folder's kind is found and described", "[models]") {
  for (const auto& [folder, name, begin] :
       std::vector<std::tuple<std::string, std::string, std::string>>{
           {"esm2_head16", "ESM-2", "architecture\tESM-2\nlayers\t"},
           {"protbert_head16", "ProtBERT", "architecture\tProtBERT\nlayers\t"}}) {
    CAPTURE(folder);
    CHECK(models::find_model(models::ModelConfig(kData + folder)).name == name);
    const std::string text = models::describe_model(kData + folder);
    CHECK(text.starts_with(begin));
    CHECK(text.find("\nvocabulary\t") != std::string::npos);
  }
}

TEST_CASE("models.registry: without model_type only what BERT alone has is BERT", "[models]") {
  const test::Folder folder;
  const auto name_of = [&](const std::string& json) -> std::string {
    folder.write("config.json", json);
    try {
      return models::find_model(models::ModelConfig(folder.path())).name;
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::bad_input);
      return error.what();
    }
  };
  CHECK(name_of(R"({"type_vocab_size": 2, "hidden_size": 32})") == "ProtBERT");
  for (const char* json : {"{}", R"({"hidden_size": 32, "vocab_size": 30})", R"({"dim": 1536})"})
    CHECK(name_of(json).find("config.json: has no model_type; known are 'esm'") !=
          std::string::npos);
  CHECK(name_of(R"({"model_type": "", "type_vocab_size": 2})").find("model_type is ''") !=
        std::string::npos);
  CHECK(name_of("version https://git-lfs.github.com/spec/v1\nsize 700\n")
            .find("config.json: is a Git LFS pointer") != std::string::npos);
}

TEST_CASE("models.registry: a task that a model does not offer is refused with those it does",
          "[models]") {
  const auto refuse = [&](const std::string& folder, const std::string& task) {
    try {
      models::require_task(models::ModelConfig(kData + folder), task);
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::usage);
      return std::string(error.what());
    }
    return std::string("taken");
  };
  CHECK(refuse("esm2_head16", "contacts") == "taken");
  CHECK(refuse("protbert_head16", "contacts").find("offers embed, logits, fill-mask, score") !=
        std::string::npos);
  CHECK(refuse("esm2_head16", "design").find("ESM-2 has no 'design'") != std::string::npos);
}

TEST_CASE("models.outputs: names that a model does not have are refused", "[models][model]") {
  test::Loaded loaded("protbert_head16");
  models::TokenBatch batch;
  batch.ids = loaded.tokens("MKT");
  batch.starts = {0, static_cast<std::int32_t>(batch.ids.size())};
  for (const char* name : {"hidden.99", "hidden.-1", "hidden.1.max", "hidden.", "states", ""})
    CHECK_THROWS_AS(loaded.model->run(batch, {name}), std::invalid_argument);
  CHECK_THROWS_AS(loaded.model->run(batch, {models::kLogits, models::kLogProbabilities}),
                  std::invalid_argument);
  CHECK_THROWS_AS(loaded.model->run(batch, {models::kContacts}), Error);
  const models::Outputs outputs = loaded.model->run(batch, {"hidden.1", "hidden.2.mean", "logits"});
  CHECK(outputs.at("hidden.1").shape == std::vector<std::int64_t>{3, 64});
  CHECK(outputs.at("hidden.2.mean").shape == std::vector<std::int64_t>{1, 64});
  CHECK(outputs.at("logits").shape == std::vector<std::int64_t>{3, 30});
  CHECK(outputs.find("hidden.2") == nullptr);
  CHECK_THROWS_AS(outputs.at("hidden.2"), std::out_of_range);
}
