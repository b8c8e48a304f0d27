#include "lib/models/base/model_options.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lib/core/error.hpp"
#include "lib/models/base/registry.hpp"

namespace biogpu::models {
namespace {

const ModelOption* find_option(const ModelDef& model, const std::string& name) {
  const auto found = std::find_if(model.options.begin(), model.options.end(),
                                  [&](const ModelOption& option) { return name == option.name; });
  return found == model.options.end() ? nullptr : &*found;
}

}  // namespace

void require_options(const ModelDef& model, const std::string& folder, const OptionValues& values) {
  for (const auto& [name, value] : values.all()) {
    if (find_option(model, name) != nullptr) continue;
    std::vector<const char*> owners;
    const ModelOption* option = nullptr;
    for (const ModelDef& other : registry())
      if (const ModelOption* const its = find_option(other, name); its != nullptr) {
        owners.push_back(other.name);
        option = its;
      }
    if (option == nullptr) throw std::invalid_argument("no model has the option " + name);
    throw Error(ErrorCode::usage,
                fmt::format(fmt::runtime(option->refusal), fmt::arg("folder", folder),
                            fmt::arg("model", model.name), fmt::arg("option", "--" + name),
                            fmt::arg("owners", fmt::format("{}", fmt::join(owners, ", ")))));
  }
}

}  // namespace biogpu::models
