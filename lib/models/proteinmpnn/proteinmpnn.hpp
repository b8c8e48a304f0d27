#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lib/models/base/model.hpp"
#include "lib/models/base/registry.hpp"
#include "lib/models/proteinmpnn/network/batch.hpp"
#include "lib/models/proteinmpnn/network/weights.hpp"

namespace biogpu::models::proteinmpnn {

// ProteinMPNN: sequences for backbones. (Dauparas et al. 2022, doi 10.1126/science.add2187;
// docs/models/proteinmpnn.md)
class ProteinMpnn final : public Model {
 public:
  // A folder with model.safetensors, as scripts/convert/proteinmpnn.py writes it. Throws
  // Error{device} where a GPU's kernels take fewer neighbours.
  ProteinMpnn(const std::string& folder, const ModelConfig& config, tensor::Context& context);

  const Info& info() const { return info_; }
  std::string describe() const override;

  // Fills in samples, scorings and taps; letters and numbers do not depend on what comes together.
  // Throws what throw_no_letter() does, and Error{device_memory}, Error{failed}.
  void run(std::span<const Work> works);

 private:
  void run_batch(std::span<const Work> works);

  Info info_;
  std::uint64_t n_parameters_ = 0;
  Weights weights_;
  std::int64_t max_rows_ = 1, max_states_ = 1;  // of a batch
};

ModelDef proteinmpnn_model();

}  // namespace biogpu::models::proteinmpnn
