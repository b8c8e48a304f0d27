#include "lib/models/base/registry.hpp"

#include "lib/models/borzoi/borzoi.hpp"
#include "lib/models/enformer/enformer.hpp"
#include "lib/models/esm2/esm2.hpp"
#include "lib/models/protbert/protbert.hpp"
#include "lib/models/proteinmpnn/proteinmpnn.hpp"
#include "lib/models/tensornet/tensornet.hpp"

namespace biogpu::models {

const std::vector<ModelDef>& registry() {
  static const std::vector<ModelDef> kModels{
      esm2_model(),      protbert_model(), proteinmpnn::proteinmpnn_model(),
      enformer_model(),  borzoi_model(),   tensornet_model(),
      tensornet2_model()};
  return kModels;
}

}  // namespace biogpu::models
