#pragma once

#include <string>
#include <vector>

#include "lib/models/base/model_config.hpp"
#include "lib/models/base/registry.hpp"
#include "lib/models/enformer/config.hpp"
#include "lib/models/enformer/weights.hpp"
#include "lib/models/layers/window_model.hpp"
#include "lib/tensor/weights/weight_table.hpp"

namespace biogpu::models {

// Enformer: a convolution tower from DNA letters to positions of 128 bases, a transformer with
// relative positions over them, and a head of tracks for each organism.
// (Avsec et al. 2021, doi 10.1038/s41592-021-01252-x; docs/models/enformer.md)
class Enformer final : public WindowModel {
 public:
  struct Options {
    enformer::WeightOptions weights;  // no heads: all of them, with all tracks
    // only_checked: to look at config() alone, on a context that computes nothing.
    tensor::WeightTable::Maps maps = tensor::WeightTable::Maps::read;
  };
  Enformer(const std::string& folder, const ModelConfig& config, tensor::Context& context,
           Options options);

  const enformer::Config& config() const { return config_; }
  enformer::GammaForm gamma() const { return weights_.gamma; }

 private:
  // The parts of a pass: stem, tower.I, block.I, crop.
  Enformer(const std::string& folder, const ModelConfig& file, enformer::Config config,
           tensor::Context& context, Options options);
  std::vector<Lease> tower(Pass& pass, const Batch& batch) const override;
  Lease to_bins(Pass& pass, const Batch& batch, std::vector<Lease> rows) const override;
  TrackEnd end() const override;
  void take_parts(Pass& pass, const Batch& batch) const override;

  const enformer::Config config_;
  enformer::Weights weights_;
};

ModelDef enformer_model();

}  // namespace biogpu::models
