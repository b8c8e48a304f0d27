#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/models/base/model_config.hpp"
#include "lib/models/base/protein_model.hpp"
#include "lib/models/base/registry.hpp"
#include "lib/models/layers/encoder_layer.hpp"
#include "lib/models/layers/language_head.hpp"
#include "lib/tensor/weights/weight_table.hpp"

namespace biogpu::models {

// ProtBERT and its relatives: BERT with normalisation after each half of a block and a learned
// table of positions. (Elnaggar et al. 2021, doi 10.1109/TPAMI.2021.3095381;
// docs/models/protbert.md)
class ProtBert final : public ProteinModel {
 public:
  ProtBert(const std::string& folder, const ModelConfig& config, tensor::Context& context,
           const LoadOptions& options);

 private:
  std::vector<float> prepare(const TokenBatch& batch) override;
  void forward(Pass& pass, const DeviceTokens& batch) override;
  void block(Pass& pass, const DeviceTokens& batch, std::int64_t index, const tensor::Tensor& x);
  static tensor::Tensor take_shown(Pass& pass, int layer, const tensor::Tensor& x);

  void read_config(const ModelConfig& config, bool keep_rare);
  tensor::HostTensor read_embeddings(tensor::WeightTable& table);
  void read_head(tensor::WeightTable& table, const ModelConfig& config, tensor::HostTensor words);
  tensor::HostTensor read_head_bias(tensor::WeightTable& table, const ModelConfig& config);

  EncoderShape shape_;
  std::int64_t n_positions_ = 0;
  std::int64_t n_types_ = 0;

  tensor::Tensor embedding_;  // f32 [V, d]
  tensor::Tensor positions_;  // f32 [P, d], with the row of token type 0 added
  tensor::Norm embedding_norm_;
  std::vector<EncoderLayer> layers_;
  LanguageHead head_;
};

ModelDef protbert_model();

}  // namespace biogpu::models
