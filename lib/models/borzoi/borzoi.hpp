#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lib/models/base/dna_model.hpp"
#include "lib/models/base/model_config.hpp"
#include "lib/models/base/registry.hpp"
#include "lib/models/borzoi/config.hpp"
#include "lib/models/borzoi/weights.hpp"
#include "lib/models/layers/changed_parts.hpp"
#include "lib/models/layers/tower_reach.hpp"
#include "lib/models/layers/track_heads.hpp"
#include "lib/tensor/arena.hpp"
#include "lib/tensor/weights/weight_table.hpp"

namespace biogpu::models {

// Borzoi: a convolution tower from DNA letters to positions of 128 bases, a transformer over them,
// a U-Net back to bins of 32 bases, and a head of tracks for each organism. Flashzoi is the same
// with rotary positions and shared key heads in the transformer.
// (Linder et al. 2025, doi 10.1038/s41588-024-02053-6; docs/models/borzoi.md)
class Borzoi final : public DnaModel {
 public:
  struct Options {
    std::vector<HeadChoice> heads;  // none: all of them, with all tracks
    // only_checked: to look at config() alone, on a context that computes nothing.
    tensor::WeightTable::Maps maps = tensor::WeightTable::Maps::read;
  };
  Borzoi(const std::string& folder, const ModelConfig& config, tensor::Context& context,
         Options options);

  std::string describe() const override;
  const borzoi::Config& config() const { return config_; }

  // The parts of a pass: stem, tower.I, block.I, up.I (0 is the last).
  Outputs run(std::span<const std::uint8_t> letters, const Request& request) override;
  // It keeps what the transformer and the U-Net read of the tower. A changed window has no parts of
  // the tower.
  bool is_near(std::span<const std::uint8_t> kept,
               std::span<const std::uint8_t> changed) const override;
  Outputs run_changed(std::span<const ChangedWindow> windows, const Request& request) override;
  std::size_t measure(std::int64_t n_windows, const Request& request) const override;

 private:
  struct Batch;
  struct Skips;
  using Lease = tensor::Arena::Lease;
  Batch make_batch(Pass& pass, std::span<const std::uint8_t> letters, std::int64_t n_letters,
                   std::int64_t n_windows, const Request& request) const;
  void forward(Pass& pass, std::span<const std::uint8_t> letters, const Request& request) const;
  void forward_changed(Pass& pass, const ChangedParts& parts, const Request& request) const;
  void keep(Pass& pass, const Skips& skips, const tensor::Tensor& positions) const;
  void finish(Pass& pass, const Batch& batch, const Request& request, Skips& skips,
              Lease positions) const;
  void take_outputs(Pass& pass, const Batch& batch, const Request& request) const;
  TrackEnd end() const;
  // The rows of up.I: how often bases were pooled.
  std::size_t skip_level(std::size_t index) const {
    return static_cast<std::size_t>(config_.n_levels() - config_.n_skips()) + index;
  }
  Lease first_level(Pass& pass, const Batch& batch) const;
  Lease tower(Pass& pass, const Batch& batch, Skips& skips) const;
  Lease transformer(Pass& pass, const Batch& batch, const tensor::Tensor& x) const;
  Lease up(Pass& pass, const Batch& batch, std::size_t index, const tensor::Tensor& skip,
           const tensor::Tensor& x) const;
  Lease unet(Pass& pass, const Batch& batch, Skips& skips, Lease x) const;

  borzoi::Config config_;
  TowerReach reach_;
  borzoi::Weights weights_;
};

ModelDef borzoi_model();

}  // namespace biogpu::models
