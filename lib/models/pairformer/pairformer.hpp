#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "lib/io/arrays/shared_array.hpp"
#include "lib/models/base/model.hpp"
#include "lib/models/base/registry.hpp"
#include "lib/models/structure/pair_blocks.hpp"

namespace biogpu::models {

// What a trunk reads: the tokens' own numbers and those of their pairs. Empty: not given.
struct TrunkInput {
  std::int64_t n_tokens = 0;
  io::SharedArray single;     // [N, c_single]
  io::SharedArray pair;       // [N, N, c_pair]
  io::SharedArray mask;       // [N] of 0 and 1: tokens that are no padding
  io::SharedArray pair_mask;  // [N, N] of 0 and 1; else the product of the tokens' masks
};

// The Pairformer stack of AlphaFold 3 (Abramson et al. 2024, doi 10.1038/s41586-024-07487-w,
// supplement, algorithm 17) under the names of Protenix.
class Pairformer final : public Model {
 public:
  struct Info {
    std::int64_t n_blocks = 0;
    std::int64_t c_single = 0;  // 0: there are pairs alone
    std::int64_t n_single_heads = 0;
    PairShape pair;
    std::uint64_t n_parameters = 0;
  };

  Pairformer(const std::string& folder, const ModelConfig& config, tensor::Context& context,
             const LoadOptions& options);

  std::string describe() const override;
  const Info& info() const { return info_; }

  // Outputs "s" [N, c_single] and "z" [N, N, c_pair]. Throws Error{device_memory} where they do not
  // fit.
  Outputs run(const TrunkInput& input);
  // Bytes of a pass over so many tokens.
  std::size_t measure(std::int64_t n_tokens) const;

 private:
  struct Block {
    TriangleProduct product_out, product_in;
    TriangleAttention attention_start, attention_end;
    Transition pair_transition;
    PairBiasAttention single_attention;
    Transition single_transition;
  };

  void read_config(const ModelConfig& config);
  Block read_block(tensor::WeightTable& table, std::int64_t index);
  void forward(Pass& pass, const TrunkInput& input) const;
  void add_block(const BlockContext& run, const Block& block, const tensor::Tensor& s,
                 const tensor::Tensor& z, const tensor::Tensor& mask,
                 const tensor::Tensor& pair_mask) const;

  Info info_;
  std::vector<Block> blocks_;
};

ModelDef pairformer_model();

}  // namespace biogpu::models
