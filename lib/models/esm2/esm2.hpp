#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/models/base/model_config.hpp"
#include "lib/models/base/protein_model.hpp"
#include "lib/models/base/registry.hpp"
#include "lib/models/esm2/ops/encoder_8m.hpp"
#include "lib/models/layers/encoder_layer.hpp"
#include "lib/models/layers/language_head.hpp"
#include "lib/tensor/weights/weight_table.hpp"

namespace biogpu::models {

// ESM-2, 8M to 15B: an encoder with normalisation before each half of a block and rotary positions.
// (Lin et al. 2023, doi 10.1126/science.ade2574; docs/models/esm2.md)
class Esm2 final : public ProteinModel {
 public:
  Esm2(const std::string& folder, const ModelConfig& config, tensor::Context& context,
       tensor::WeightTable::Maps maps);

 private:
  std::vector<float> prepare(const TokenBatch& batch) override;
  void forward(Pass& pass, const DeviceTokens& batch) override;
  void block(Pass& pass, const DeviceTokens& batch, std::int64_t index, const tensor::Tensor& x,
             const tensor::Tensor& h, const tensor::Tensor& contact_sums);
  bool encode_at_once(tensor::Context& context, const DeviceTokens& batch, const tensor::Tensor& x,
                      const tensor::Tensor& h);
  bool wants_inside(const Pass& pass) const;
  void finish(Pass& pass, const DeviceTokens& batch, const tensor::Tensor& x,
              const tensor::Tensor& h);

  void read_config(const ModelConfig& config);
  void read_weights(tensor::WeightTable& table, const ModelConfig& config);
  void read_rotary(tensor::WeightTable& table, const ModelConfig& config);
  void extend_rotary(std::int64_t n_positions);

  EncoderShape shape_;
  bool token_dropout_ = true;

  tensor::Tensor embedding_;          // f32 [V, d]
  std::vector<EncoderLayer> layers_;  // q scaled by 1 / sqrt(head size)
  tensor::Norm final_norm_;
  esm2::Encode8m encoder_;  // the same, as a whole
  LanguageHead head_;
  tensor::Tensor contact_weight_;                // f32 [n_layers * n_heads]
  std::vector<tensor::Tensor> contact_weights_;  // the part of each layer
  float contact_bias_ = 0;
  std::vector<float> inverse_frequencies_;  // [head size / 2]
  ops::Rotary rotary_;
};

ModelDef esm2_model();

}  // namespace biogpu::models
