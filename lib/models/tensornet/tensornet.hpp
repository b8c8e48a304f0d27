#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lib/models/base/model_config.hpp"
#include "lib/models/base/potential_model.hpp"
#include "lib/models/base/registry.hpp"
#include "lib/models/tensornet/device_edges.hpp"
#include "lib/models/tensornet/graph.hpp"
#include "lib/models/tensornet/pair_terms/pair_term.hpp"
#include "lib/models/tensornet/weights/config.hpp"
#include "lib/models/tensornet/weights/weights.hpp"

namespace biogpu::models {

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

 private:
  struct HostBatch;
  // How a call's systems are cut into passes whose edges the device lists. It is kept for calls
  // with systems of the same sizes, such as steps of dynamics: these need not count edges first.
  struct ListPlan {
    struct Part {
      std::size_t n_systems;
      std::int64_t capacity;  // of edges
    };
    std::vector<std::int32_t> atom_starts;
    std::vector<Part> parts;
  };

  // Whether the device lists the edges of a system. Otherwise the host does: on other contexts, of
  // lists of pairs that are given, and for TensorNet2.
  bool is_listed_on_device(const AtomSystem& system) const;
  void add_atoms(const AtomSystem& system, HostBatch& batch) const;
  HostBatch make_batch(std::span<const AtomSystem> systems) const;
  ListPlan make_plan(const tensornet::DeviceEdges& all);
  void compute_on_host_edges(std::span<const AtomSystem> systems, const Request& request,
                             std::vector<PotentialResult>& results);
  void compute_on_device_edges(std::span<const AtomSystem> systems, const Request& request,
                               std::vector<PotentialResult>& results);
  void forward(Pass& pass, const HostBatch& batch, const Request& request) const;
  // Outputs of a pass to the results of its systems.
  void collect(const Outputs& outputs, const HostBatch& batch, const Request& request,
               std::vector<PotentialResult>& results) const;
  void add_pair_terms(const AtomSystem& system, const Request& request,
                      PotentialResult& result) const;

  tensornet::Config config_;
  tensornet::Weights weights_;
  tensornet::PairTerms pair_terms_;
  bool lists_on_device_ = false;
  double std_ = 1;
  std::vector<double> references_;  // by type; or empty
  ListPlan plan_;
};

ModelDef tensornet_model();
ModelDef tensornet2_model();

}  // namespace biogpu::models
