#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lib/models/base/model_config.hpp"
#include "lib/models/base/potential_model.hpp"
#include "lib/models/base/registry.hpp"
#include "lib/models/tensornet/device_edges.hpp"
#include "lib/models/tensornet/graph.hpp"
#include "lib/models/tensornet/list_plan.hpp"
#include "lib/models/tensornet/pair_terms/pair_term.hpp"
#include "lib/models/tensornet/weights/config.hpp"
#include "lib/models/tensornet/weights/weights.hpp"

namespace biogpu::models {

// The option of TensorNet and TensorNet2.
inline constexpr char kAtomReferences[] = "atom-references";

// TensorNet: energies of atoms out of 3 x 3 tensors that they exchange with their neighbours, in
// the dialects of torchmd-net and of matgl; and TensorNet2, whose atoms have charges. On the
// reference context it computes in fp64. (Simeon and De Fabritiis 2023, arXiv 2306.06482;
// docs/models/tensornet.md)
class TensorNet final : public PotentialModel {
 public:
  TensorNet(const std::string& folder, const ModelConfig& config, tensor::Context& context,
            const LoadOptions& options);

  std::string describe() const override;
  const tensornet::Config& config() const { return config_; }
  std::vector<PotentialResult> compute(std::span<const AtomSystem> systems,
                                       const Request& request) override;

  // Passes so far: those that count edges, and those that compute on edges of the device or host.
  struct Passes {
    std::int64_t counting = 0, on_device_edges = 0, on_host_edges = 0;
  };
  const Passes& n_passes() const { return n_passes_; }
  // For tests: other limits than those that suit a device.
  void limit_passes(const tensornet::PassLimits& limits) { limits_ = limits; }

 private:
  struct HostBatch;
  // Whether the device lists the edges of a system. Otherwise the host does: on other contexts, of
  // lists of pairs that are given, for TensorNet2, and in boxes so narrow that an atom has
  // thousands of neighbours.
  bool is_listed_on_device(const AtomSystem& system) const;
  void add_atoms(const AtomSystem& system, HostBatch& batch) const;
  HostBatch make_batch(std::span<const AtomSystem> systems) const;
  tensornet::ListPlan make_plan(const tensornet::DeviceEdges& all);
  void compute_on_host_edges(std::span<const AtomSystem> systems, const Request& request,
                             std::vector<PotentialResult>& results);
  void compute_on_device_edges(std::span<const AtomSystem> systems, const Request& request,
                               std::vector<PotentialResult>& results);
  void forward(Pass& pass, const HostBatch& batch, const Request& request) const;
  // Outputs of a pass to the results of its systems.
  void collect(const Outputs& outputs, const HostBatch& batch, const Request& request,
               std::vector<PotentialResult>& results) const;
  // What belongs to the network's sum, the sum or mean of atoms, and what is added to that.
  void add_pair_terms(const AtomSystem& system, const Request& request,
                      PotentialResult& result) const;

  tensornet::Config config_;
  tensornet::Weights weights_;
  tensornet::PairTerms pair_terms_;
  bool lists_on_device_ = false;
  double std_ = 1;
  std::vector<double> references_;  // by type; or empty
  tensornet::ListPlan plan_;
  tensornet::PassLimits limits_;
  Passes n_passes_;
};

ModelDef tensornet_model();
ModelDef tensornet2_model();

}  // namespace biogpu::models
