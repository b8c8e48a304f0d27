#include "lib/models/base/registry.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"

namespace biogpu::models {

const ModelDef& find_model(const ModelConfig& config) {
  // ProtBERT's published config.json has no model_type; it is known by a key that BERT alone has.
  const bool is_bert = !config.has("model_type") && config.has("type_vocab_size");
  const std::string type = is_bert ? "bert" : config.text_or("model_type", "");
  std::vector<std::string> known;
  for (const ModelDef& model : registry()) {
    if (type == model.model_type) return model;
    known.push_back(fmt::format("'{}' ({})", model.model_type, model.name));
  }
  if (!config.has("model_type"))
    config.fail(fmt::format("has no model_type; known are {}", fmt::join(known, ", ")));
  config.fail(
      fmt::format("model_type is {}; known are {}", biogpu::quoted(type), fmt::join(known, ", ")));
}

const ModelDef& require_task(const ModelConfig& config, std::string_view task) {
  const ModelDef& model = find_model(config);
  const auto offers = [&](const char* offered) { return task == offered; };
  if (std::none_of(model.tasks.begin(), model.tasks.end(), offers))
    throw Error(ErrorCode::usage, fmt::format("{}: {} has no '{}'; it offers {}", config.path(),
                                              model.name, task, fmt::join(model.tasks, ", ")));
  return model;
}

std::string describe_model(const std::string& folder) {
  const ModelConfig config(folder);
  const ModelDef& model = find_model(config);
  const auto context = tensor::make_dry_run_context(tensor::Precision::fp32);
  const LoadOptions options{.maps = tensor::WeightTable::Maps::only_checked};
  return model.load(folder, config, *context, options)->describe();
}

}  // namespace biogpu::models
