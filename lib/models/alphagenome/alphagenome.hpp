#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "lib/models/alphagenome/batch.hpp"
#include "lib/models/alphagenome/config.hpp"
#include "lib/models/alphagenome/read_parts.hpp"
#include "lib/models/alphagenome/tower.hpp"
#include "lib/models/alphagenome/weights.hpp"
#include "lib/models/base/dna_model.hpp"
#include "lib/models/base/model_config.hpp"
#include "lib/models/base/registry.hpp"
#include "lib/models/layers/changed_parts.hpp"
#include "lib/models/layers/tower_reach.hpp"
#include "lib/models/layers/track_heads.hpp"
#include "lib/tensor/weights/weight_table.hpp"

namespace biogpu::models {

// AlphaGenome: a U-Net from DNA letters to positions of 128 bases and back, a transformer over
// these positions with a track of pairs of 2,048 bases, and heads of tracks at both resolutions.
// (Avsec et al. 2026, doi 10.1038/s41586-025-10014-0; docs/models/alphagenome.md)
class AlphaGenome final : public DnaModel {
 public:
  struct Options {
    alphagenome::WeightOptions weights;  // no heads: all of them, with all tracks
    std::int64_t n_bases = 0;            // of a window; 0: as config.json says
    alphagenome::PairGelu pair_gelu = alphagenome::PairGelu::tanh;
    // only_checked: to look at config() alone, on a context that computes nothing.
    tensor::WeightTable::Maps maps = tensor::WeightTable::Maps::read;
  };
  AlphaGenome(const std::string& folder, const ModelConfig& config, tensor::Context& context,
              Options options);

  // It keeps the encoder's result of windows. Of a window that is near a kept one the encoder
  // computes a part, unless tracks or the embedding of bases are asked for. For sums and rows of
  // bases, and for sites among bases, only the parts of windows that hold them are decoded.
  bool is_near(std::span<const std::uint8_t> kept,
               std::span<const std::uint8_t> changed) const override;
  Outputs run_changed(std::span<const ChangedWindow> windows, const Request& request) override;

  std::string describe() const override;
  const alphagenome::Config& config() const { return config_; }

  // The parts of a pass: trunk, tower, pair, decoded.
  Outputs run(std::span<const std::uint8_t> letters, const Request& request) override;
  std::size_t measure(std::int64_t n_windows, const Request& request) const override;

  bool keeps_embeddings() const override { return true; }
  KeptStore::Slot run_embeddings(std::span<const std::uint8_t> letters) override;
  Outputs run_kept(const KeptStore::Slot& window, const HeadRange& heads) override;

  void reserve_sites(std::size_t n_windows) override;
  SpliceSites select_sites(std::span<const float> probabilities) const override;
  Outputs run_junctions(const SiteWindow& window, const SpliceSites& sites,
                        const SiteRows& rows) override;

 private:
  AlphaGenome(const std::string& folder, const ModelConfig& file, alphagenome::Config config,
              tensor::Context& context, Options options);
  // Which of the parts of a pass a request needs.
  struct Needs {
    bool fine = false, coarse = false, contacts = false;
  };
  Needs needs(const Request& request) const;
  TrackEnd end(bool is_fine, const alphagenome::ReadParts* parts = nullptr) const;
  std::optional<alphagenome::ReadParts> read_parts(const Request& request,
                                                   std::int64_t n_windows) const;
  bool has_junctions(const Request& request) const;
  void keep_sites(std::vector<KeptStore::Slot> slots, const Outputs& outputs,
                  const Request& request) const;
  // What heads read of windows, operands: embeddings of bases, of coarse positions and of pairs.
  struct Embeddings {
    tensor::Tensor fine, coarse, pairs;
  };
  // Those of a slot that loaded heads read.
  Embeddings kept_embeddings(std::size_t slot) const;
  // What a pass computes of windows.
  struct Task {
    std::span<const std::uint8_t> letters;
    const ChangedParts* changed = nullptr;        // of windows that are near kept ones
    std::span<const KeptStore::Slot> slots = {};  // of windows to be kept
    Embeddings kept = {};  // where embeddings go that are read behind the pass
  };
  Outputs run_task(Task task, const Request& request);
  void forward(Pass& pass, const Task& task, const Request& request) const;
  struct DecodedParts;
  DecodedParts upload_parts(Pass& pass, const alphagenome::ReadParts& parts,
                            std::span<const std::uint8_t> letters) const;
  tensor::Tensor part_embedding(Pass& pass, const DecodedParts& parts, const tensor::Tensor& x,
                                const tensor::Tensor& of_coarse) const;
  void keep(Pass& pass, const tensor::Tensor& x, std::span<const KeptStore::Slot> slots) const;
  void add_junctions(const tensor::Tensor& site_rows, std::int64_t n_windows, Outputs& outputs);
  void forward_heads(Pass& pass, const Embeddings& window, const Request& request) const;
  tensor::Tensor upload_contacts(Pass& pass, std::int64_t n_windows, const Request& request) const;
  void contact_maps(Pass& pass, const tensor::Tensor& pairs, const tensor::Tensor& contacts) const;
  tensor::Tensor pair_embedding(Pass& pass, const tensor::Tensor& pair,
                                const tensor::Tensor& kept) const;
  tensor::Tensor coarse_embedding(Pass& pass, const tensor::Tensor& x,
                                  const tensor::Tensor& kept) const;
  tensor::Tensor fine_embedding(Pass& pass, const alphagenome::UnetRows& rows,
                                const tensor::Tensor& decoded, const tensor::Tensor& coarse,
                                const tensor::Tensor& kept) const;

  alphagenome::Config config_;
  const alphagenome::PairGelu pair_gelu_;
  alphagenome::Weights weights_;
  std::optional<KeptStore> embeddings_;  // those of bases first
  const TowerReach reach_;               // of the encoder
};

ModelDef alphagenome_model();

}  // namespace biogpu::models
