#include "lib/models/base/registry.hpp"

#include "lib/models/all_models.hpp"

namespace biogpu::models {

const std::vector<ModelDef>& registry() {
  static const std::vector<ModelDef> kModels{
#define BIOGPU_MODEL(folder, entry) entry(),
#include "lib/models/models.def"
#undef BIOGPU_MODEL
  };
  return kModels;
}

}  // namespace biogpu::models
