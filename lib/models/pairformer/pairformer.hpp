#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "lib/models/base/registry.hpp"
#include "lib/models/structure/msa_blocks.hpp"
#include "lib/models/structure/pair_blocks.hpp"
#include "lib/models/structure/trunk_model.hpp"

namespace biogpu::models {

// The Pairformer stack of AlphaFold 3 (Abramson et al. 2024, doi 10.1038/s41586-024-07487-w,
// supplement, algorithm 17), behind the MSA module (algorithm 8) where the model has one, under the
// names of Protenix.
class Pairformer final : public TrunkModel {
 public:
  struct Info {
    std::int64_t n_blocks = 0;
    std::int64_t c_single = 0;  // 0: there are pairs alone
    std::int64_t n_single_heads = 0;
    PairShape pair;
    bool swaps_ending_bias = false;  // TriangleAttention::swaps_bias around the ending node
    std::int64_t n_msa_blocks = 0;   // 0: there is no MSA module
    MsaShape msa;
    bool outer_product_first = true;  // in a block; else rows first, as in Boltz-2
    std::uint64_t n_parameters = 0;
  };

  Pairformer(const std::string& folder, const ModelConfig& config, tensor::Context& context,
             const LoadOptions& options);

  std::string describe() const override;
  std::string title() const override;
  const Info& info() const { return info_; }
  TrunkShape shape() const override;

  std::vector<std::string> outputs() const override;

  // Outputs "s" [N, c_single] if there are tokens, and "z" [N, N, c_pair].
  Outputs run(const TrunkInput& input) override;
  std::size_t measure(std::int64_t n_tokens, std::int64_t n_rows = 1) const override;

 private:
  struct PairStack {
    TriangleProduct product_out, product_in;
    TriangleAttention attention_start, attention_end;
    Transition transition;
  };
  struct Block {
    PairStack pair;
    PairBiasAttention single_attention;
    Transition single_transition;
  };
  struct MsaBlock {
    OuterProductMean outer_product;
    bool changes_rows = true;  // the last one does not where outer products come first
    PairWeightedAveraging averaging;
    Transition transition;
    PairStack pair;
  };
  // What a pass computes on: rows of an alignment and their mask, tokens, pairs and their masks.
  struct Streams {
    tensor::Tensor m, msa_mask, s, z, mask, pair_mask;
  };

  void read_config(const ModelConfig& config);
  PairStack read_pair_stack(tensor::WeightTable& table, const std::string& name);
  Block read_block(tensor::WeightTable& table, std::int64_t index);
  MsaBlock read_msa_block(tensor::WeightTable& table, std::int64_t index);
  void forward(Pass& pass, const TrunkInput& input) const;
  static void add_pair_stack(const BlockContext& run, const PairStack& stack, const Streams& to);
  static void add_block(const BlockContext& run, const Block& block, const Streams& to);
  void add_msa_block(const BlockContext& run, const MsaBlock& block, const Streams& to) const;

  Info info_;
  std::vector<MsaBlock> msa_blocks_;
  std::vector<Block> blocks_;
};

ModelDef pairformer_model();

}  // namespace biogpu::models
