#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lib/models/base/model.hpp"
#include "lib/models/base/model_config.hpp"
#include "lib/models/base/registry.hpp"
#include "lib/models/dualbind/batch.hpp"
#include "lib/models/dualbind/complex.hpp"
#include "lib/models/dualbind/config.hpp"
#include "lib/models/dualbind/weights.hpp"

namespace biogpu::models {

// Of weights that its authors publish; shown when a checkpoint is loaded.
inline constexpr char kDualBindLicence[] =
    "weights of DualBind by NVIDIA are for research and evaluation only, not for commercial use; "
    "see the licence that they came with";

// DualBind: binding affinities of docked ligands out of messages between their atoms, and attention
// over all atoms in eight frames. (Liu et al. 2025, arXiv 2507.08966; Jin et al. 2023, DSMBind,
// arXiv 2310.18278; docs/models/dualbind.md)
class DualBind final : public Model {
 public:
  DualBind(const std::string& folder, const ModelConfig& config, tensor::Context& context,
           const LoadOptions& options);

  std::string describe() const override;
  const dualbind::Config& config() const { return config_; }
  std::size_t n_members() const { return members_.size(); }

  struct Result {
    std::vector<double> energies;       // kcal/mol, of each checkpoint
    std::array<double, 3> eigenvalues;  // of the covariance, rising
  };
  // A result for each complex. Its bytes do not depend on the others. Throws Error{device_memory}
  // where the batch is too large.
  std::vector<Result> compute(std::span<const dualbind::Complex> complexes);
  // Hidden states of the first checkpoint: those of NetworkOutputs.
  struct Stages {
    std::vector<float> atoms, tokens;
  };
  Stages compute_stages(std::span<const dualbind::Complex> complexes);
  // Bytes of a pass over n complexes of usual size.
  std::size_t measure(std::uint64_t n_complexes) const;

 private:
  void load_member(const std::string& folder, const ModelConfig& config,
                   const LoadOptions& options);
  void forward(Pass& pass, dualbind::HostBatch& host, bool has_stages = false) const;

  dualbind::Config config_;
  std::vector<dualbind::Weights> members_;  // of checkpoints that are averaged
  std::uint64_t n_parameters_ = 0;
};

ModelDef dualbind_model();

}  // namespace biogpu::models
