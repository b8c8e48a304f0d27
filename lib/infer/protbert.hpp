#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/infer/encoder_layer.hpp"
#include "lib/infer/language_head.hpp"
#include "lib/infer/model_config.hpp"
#include "lib/infer/protein_model.hpp"
#include "lib/nn/weights/weight_table.hpp"

namespace biogpu::infer {

// ProtBERT and its relatives: BERT with normalisation after each half of a block and a learned
// table of positions. (Elnaggar et al. 2021, doi 10.1109/TPAMI.2021.3095381;
// docs/models/protbert.md)
class ProtBert final : public ProteinModel {
 public:
  ProtBert(const std::string& folder, const ModelConfig& config, nn::Backend& backend,
           const LoadOptions& options);

 private:
  void prepare(nn::HostBatch& batch) override;
  void forward(nn::Backend& backend, nn::Arena& arena, const nn::Batch& batch,
               const Taps& taps) override;
  void block(nn::Backend& backend, nn::Arena& arena, const nn::Batch& batch, const Taps& taps,
             std::int64_t index, const nn::Tensor& x);
  static nn::Tensor take_shown(nn::Arena& arena, const Taps& taps, int layer, const nn::Tensor& x);

  void read_config(const ModelConfig& config, bool keep_rare);
  nn::HostTensor read_embeddings(nn::WeightTable& table);
  void read_head(nn::WeightTable& table, const ModelConfig& config, nn::HostTensor words);
  nn::HostTensor read_head_bias(nn::WeightTable& table, const ModelConfig& config);

  EncoderShape shape_;
  std::int64_t n_positions_ = 0;
  std::int64_t n_types_ = 0;

  nn::Tensor embedding_;  // f32 [V, d]
  nn::Tensor positions_;  // f32 [P, d], with the row of token type 0 added
  nn::Norm embedding_norm_;
  std::vector<EncoderLayer> layers_;
  LanguageHead head_;
};

}  // namespace biogpu::infer
