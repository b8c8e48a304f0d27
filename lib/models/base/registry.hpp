#pragma once

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "lib/models/base/dna_model.hpp"
#include "lib/models/base/model.hpp"
#include "lib/models/base/model_config.hpp"
#include "lib/models/base/model_options.hpp"
#include "lib/models/base/potential_model.hpp"
#include "lib/tensor/context.hpp"
#include "lib/tensor/weights/weight_table.hpp"

namespace biogpu::models {

struct LoadOptions {
  OptionValues values = {};  // of options that the model declares
  // Models of DNA: the heads to load, of those that config.json has; not given: all.
  using ChooseHeads = std::function<std::vector<HeadChoice>(const std::vector<TrackHead>& heads)>;
  ChooseHeads choose_heads = {};
  // Models of complexes: folders of further checkpoints, whose results are averaged.
  std::vector<std::string> ensemble = {};
  // only_checked: to look at a model's description alone, on a context that computes nothing.
  tensor::WeightTable::Maps maps = tensor::WeightTable::Maps::read;
};

// What a model's tasks read.
enum class Reads { proteins, structures, dna, atoms, complexes, arrays, images };

// A kind of model as the command line knows it.
struct ModelDef {
  const char* model_type;  // of config.json
  const char* name;        // "ESM-2"
  Reads reads;
  std::vector<const char*> tasks;  // subcommands of `biogpu infer`, in the order of its help
  // Throws Error{bad_input} for weights that do not fit config.json; Error{failed}.
  std::unique_ptr<Model> (*load)(const std::string& folder, const ModelConfig& config,
                                 tensor::Context& context, const LoadOptions& options);
  // What a GPU computes in where nothing is asked for: the fastest that keeps the model's results.
  tensor::Precision gpu_precision = tensor::Precision::fp16;
  std::vector<ModelOption> options = {};  // that its tasks take beyond those of every model
};

// All kinds, each defined in its own folder; its line in lib/models/models.def adds it.
const std::vector<ModelDef>& registry();

// The kind of model that a folder's config.json names. Throws Error{bad_input} for an unknown one.
const ModelDef& find_model(const ModelConfig& config);

// The same, where it offers the task. Throws Error{usage} with what it offers where it does not.
const ModelDef& require_task(const ModelConfig& config, std::string_view task);

// Throws Error{usage} for a value of an option that the model does not declare. folder: for errors.
void require_options(const ModelDef& model, const std::string& folder, const OptionValues& values);

// Model::describe() of what a folder holds. Errors: those of find_model() and of load.
std::string describe_model(const std::string& folder);

// Reads a folder for a task. Kind: the class that the task works with.
template <class Kind>
std::unique_ptr<Kind> load_model(const std::string& folder, std::string_view task,
                                 tensor::Context& context, const LoadOptions& options = {}) {
  const ModelConfig config(folder);
  const ModelDef& kind_of_model = require_task(config, task);
  require_options(kind_of_model, folder, options.values);
  std::unique_ptr<Model> model = kind_of_model.load(folder, config, context, options);
  Kind* const kind = dynamic_cast<Kind*>(model.get());
  if (kind == nullptr) throw std::logic_error("a registered task that its model cannot do");
  static_cast<void>(model.release());  // the result owns it
  return std::unique_ptr<Kind>(kind);
}

}  // namespace biogpu::models
