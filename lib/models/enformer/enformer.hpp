#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lib/models/base/dna_model.hpp"
#include "lib/models/base/model_config.hpp"
#include "lib/models/base/registry.hpp"
#include "lib/models/enformer/config.hpp"
#include "lib/models/enformer/weights.hpp"
#include "lib/models/layers/changed_parts.hpp"
#include "lib/models/layers/tower_reach.hpp"
#include "lib/models/layers/track_heads.hpp"
#include "lib/tensor/weights/weight_table.hpp"

namespace biogpu::models {

// Enformer: a convolution tower from DNA letters to positions of 128 bases, a transformer with
// relative positions over them, and a head of tracks for each organism.
// (Avsec et al. 2021, doi 10.1038/s41592-021-01252-x; docs/models/enformer.md)
class Enformer final : public DnaModel {
 public:
  struct Options {
    enformer::WeightOptions weights;  // no heads: all of them, with all tracks
    // only_checked: to look at config() alone, on a context that computes nothing.
    tensor::WeightTable::Maps maps = tensor::WeightTable::Maps::read;
  };
  Enformer(const std::string& folder, const ModelConfig& config, tensor::Context& context,
           Options options);

  std::string describe() const override;
  const enformer::Config& config() const { return config_; }
  enformer::GammaForm gamma() const { return weights_.gamma; }

  // The parts of a pass: stem, tower.I, block.I, crop.
  Outputs run(std::span<const std::uint8_t> letters, const Request& request) override;
  // It keeps the tower's result. A changed window has no parts of the tower.
  bool is_near(std::span<const std::uint8_t> kept,
               std::span<const std::uint8_t> changed) const override;
  Outputs run_changed(std::span<const ChangedWindow> windows, const Request& request) override;
  std::size_t measure(std::int64_t n_windows, const Request& request) const override;

 private:
  struct Batch;
  Batch make_batch(Pass& pass, std::span<const std::uint8_t> letters, std::int64_t n_letters,
                   std::int64_t n_windows, const Request& request) const;
  void forward(Pass& pass, std::span<const std::uint8_t> letters, const Request& request) const;
  void forward_changed(Pass& pass, const ChangedParts& parts, const Request& request) const;
  void take_outputs(Pass& pass, const Batch& batch, const Request& request) const;
  void tower(Pass& pass, const Batch& batch, const tensor::Tensor& positions) const;
  tensor::Tensor transformer(Pass& pass, const Batch& batch, const tensor::Tensor& x) const;
  TrackEnd end() const;
  void finish(Pass& pass, const Batch& batch, const Request& request,
              const tensor::Tensor& activated) const;

  enformer::Config config_;
  TowerReach reach_;
  enformer::Weights weights_;
};

ModelDef enformer_model();

}  // namespace biogpu::models
