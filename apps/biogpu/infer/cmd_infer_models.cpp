// `biogpu infer models`: the published weights of the models, and how to make folders of them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "apps/biogpu/command_line/option_group.hpp"
#include "apps/biogpu/command_line/value_checks.hpp"
#include "apps/biogpu/infer/commands.hpp"
#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"
#include "lib/io/output_file.hpp"
#include "lib/models/base/published_weights.hpp"
#include "lib/models/base/registry.hpp"

namespace biogpu::app {
namespace {

using models::PublishedWeights;

// The subcommands of `biogpu infer` that take one of the models, in the order of their help.
std::vector<std::string> tasks_of(const PublishedWeights& weights) {
  std::vector<std::string> tasks;
  for (const models::ModelDef& model : models::registry()) {
    const std::string_view type = model.model_type;
    if (std::find(weights.model_types.begin(), weights.model_types.end(), type) ==
        weights.model_types.end())
      continue;
    for (const char* task : model.tasks)
      if (std::find(tasks.begin(), tasks.end(), task) == tasks.end()) tasks.emplace_back(task);
  }
  return tasks;
}

// Letters and digits alone, in lower case: "esm2" of "ESM-2".
std::string folded(std::string_view name) {
  std::string text;
  for (const unsigned char c : name)
    if (std::isalnum(c) != 0) text += static_cast<char>(std::tolower(c));
  return text;
}

std::vector<PublishedWeights> choose_families(const std::string& name) {
  std::vector<PublishedWeights> chosen;
  std::vector<std::string> names;
  for (const PublishedWeights& weights : models::published_weights()) {
    names.emplace_back(weights.family);
    if (folded(weights.family).find(folded(name)) != std::string::npos) chosen.push_back(weights);
  }
  if (chosen.empty() || (!name.empty() && folded(name).empty()))
    throw Error(ErrorCode::usage,
                fmt::format("no model {}; expected a part of one of these names: {}",
                            biogpu::quoted(name), fmt::join(names, ", ")));
  return chosen;
}

std::string text_of(const PublishedWeights& weights) {
  std::string text = fmt::format("{}: {}\n", weights.family, fmt::join(tasks_of(weights), ", "));
  const auto line = [&](const char* label, std::string_view what) {
    text += fmt::format("  {:<9} {}\n", label, what);
  };
  const auto lines = [&](const char* label, const std::vector<const char*>& commands) {
    for (const char* command : commands) {
      line(label, command);
      label = "";
    }
  };
  line("published", weights.publisher);
  line("licence", weights.licence);
  const char* label = "weights";
  for (const PublishedWeights::File& file : weights.files) {
    line(label, *file.size == '\0' ? file.name : fmt::format("{} ({})", file.name, file.size));
    label = "";
  }
  lines("fetch", weights.fetch);
  lines("convert", weights.convert);
  line("use", weights.use);
  if (*weights.note != '\0') line("note", weights.note);
  return text;
}

std::string json_of(const std::vector<PublishedWeights>& families) {
  using Json = nlohmann::ordered_json;
  Json list = Json::array();
  for (const PublishedWeights& weights : families) {
    Json files = Json::array();
    for (const PublishedWeights::File& file : weights.files)
      files.push_back(
          {{"name", file.name}, {"size", *file.size == '\0' ? Json() : Json(file.size)}});
    list.push_back({{"family", weights.family},
                    {"model_types", weights.model_types},
                    {"tasks", tasks_of(weights)},
                    {"publisher", weights.publisher},
                    {"licence", weights.licence},
                    {"weights", std::move(files)},
                    {"fetch", weights.fetch},
                    {"convert", weights.convert},
                    {"use", weights.use},
                    {"note", weights.note}});
  }
  return Json{{"schema_version", 1}, {"models", std::move(list)}}.dump(2) + "\n";
}

void run_models(const std::string& name, const std::string& json) {
  const std::vector<PublishedWeights> families = choose_families(name);
  if (json != "-") {
    std::string text;
    for (const PublishedWeights& weights : families)
      text += fmt::format("{}{}", text.empty() ? "" : "\n", text_of(weights));
    print(text);
  }
  if (json.empty()) return;
  io::OutputFile file(json);
  file.write(json_of(families));
  file.commit();
}

}  // namespace

Run add_infer_models(CLI::App& command) {
  const auto name = std::make_shared<std::string>();
  const auto json = std::make_shared<std::string>();
  const OptionGroup options(command);
  options.option("MODEL", *name, "part of the name of a model, as esm2 [all of them]", " ");
  options
      .option("--json", *json, "write the list as JSON to this file; - is standard output", "FILE")
      ->check(text_name({"json"}));
  command.footer(
      std::string(
          "Nothing is downloaded: the commands are for you, with the publisher's own client.\n"
          "hf is that of the Hugging Face hub: pip install huggingface_hub.\n"
          "Read the licence before use. The converters are in share/biogpu/convert of an\n"
          "installed biogpu and need torch; docs/weights.md says more.\n\n"
          "Examples:\n  biogpu infer models\n  biogpu infer models esm2\n"
          "  biogpu infer models --json -\n\n") +
      kExitCodes);
  return [name, json](const std::string&) { run_models(*name, *json); };
}

}  // namespace biogpu::app
