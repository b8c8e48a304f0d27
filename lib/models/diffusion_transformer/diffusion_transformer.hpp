#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "lib/models/base/registry.hpp"
#include "lib/models/structure/diffusion_blocks.hpp"
#include "lib/models/structure/trunk_model.hpp"

namespace biogpu::models {

// The transformer over the tokens of AlphaFold 3's diffusion module (Abramson et al. 2024, doi
// 10.1038/s41586-024-07487-w, supplement, algorithm 23), under the names of Protenix: tokens a,
// conditioned on s, attend to each other with a bias of the pairs z.
class DiffusionTransformer final : public TrunkModel {
 public:
  struct Info {
    std::int64_t n_blocks = 0;
    DiffusionShape shape;
    std::uint64_t n_parameters = 0;
  };

  DiffusionTransformer(const std::string& folder, const ModelConfig& config,
                       tensor::Context& context, const LoadOptions& options);

  std::string describe() const override;
  std::string title() const override;
  const Info& info() const { return info_; }
  TrunkShape shape() const override;
  std::vector<std::string> outputs() const override { return {"a"}; }

  // Output "a" [N, c].
  Outputs run(const TrunkInput& input) override;
  std::size_t measure(std::int64_t n_tokens, std::int64_t n_rows = 1) const override;

 private:
  struct Block {
    ConditionedAttention attention;
    ConditionedTransition transition;
  };

  void read_config(const ModelConfig& config);
  void forward(Pass& pass, const TrunkInput& input) const;

  Info info_;
  std::vector<Block> blocks_;
};

ModelDef diffusion_transformer_model();

}  // namespace biogpu::models
