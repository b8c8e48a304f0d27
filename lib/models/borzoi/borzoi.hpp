#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "lib/models/base/model_config.hpp"
#include "lib/models/base/registry.hpp"
#include "lib/models/borzoi/config.hpp"
#include "lib/models/borzoi/weights.hpp"
#include "lib/models/layers/window_model.hpp"
#include "lib/tensor/weights/weight_table.hpp"

namespace biogpu::models {

// Borzoi: a convolution tower from DNA letters to positions of 128 bases, a transformer over them,
// a U-Net back to bins of 32 bases, and a head of tracks for each organism. Flashzoi is the same
// with rotary positions and shared key heads in the transformer.
// (Linder et al. 2025, doi 10.1038/s41588-024-02053-6; docs/models/borzoi.md)
class Borzoi final : public WindowModel {
 public:
  struct Options {
    std::vector<HeadChoice> heads;  // none: all of them, with all tracks
    // only_checked: to look at config() alone, on a context that computes nothing.
    tensor::WeightTable::Maps maps = tensor::WeightTable::Maps::read;
  };
  Borzoi(const std::string& folder, const ModelConfig& config, tensor::Context& context,
         Options options);

  const borzoi::Config& config() const { return config_; }

 private:
  // The parts of a pass: stem, tower.I, block.I, up.I (0 is the last).
  Borzoi(const std::string& folder, const ModelConfig& file, borzoi::Config config,
         tensor::Context& context, Options options);
  std::vector<Lease> tower(Pass& pass, const Batch& batch) const override;
  Lease to_bins(Pass& pass, const Batch& batch, std::vector<Lease> rows) const override;
  TrackEnd end() const override;
  void take_parts(Pass& pass, const Batch& batch) const override;
  Lease first_level(Pass& pass, const Batch& batch) const;
  Lease up(Pass& pass, const Batch& batch, std::size_t index, const tensor::Tensor& skip,
           const tensor::Tensor& x) const;
  Lease unet(Pass& pass, const Batch& batch, std::vector<Lease> rows, Lease x) const;

  const borzoi::Config config_;
  borzoi::Weights weights_;
};

ModelDef borzoi_model();

}  // namespace biogpu::models
