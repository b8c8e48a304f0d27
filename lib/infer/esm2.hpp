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

// ESM-2, 8M to 15B: an encoder with normalisation before each half of a block and rotary positions.
// (Lin et al. 2023, doi 10.1126/science.ade2574; docs/models/esm2.md)
class Esm2 final : public ProteinModel {
 public:
  Esm2(const std::string& folder, const ModelConfig& config, nn::Backend& backend,
       nn::WeightTable::Maps maps);

 private:
  void prepare(nn::HostBatch& batch) override;
  void forward(nn::Backend& backend, nn::Arena& arena, const nn::Batch& batch,
               const Taps& taps) override;
  void block(nn::Backend& backend, nn::Arena& arena, const nn::Batch& batch, const Taps& taps,
             std::int64_t index, const nn::Tensor& x, const nn::Tensor& h,
             const nn::Tensor& contact_sums);
  bool taps_inside(const Taps& taps) const;
  void finish(nn::Backend& backend, nn::Arena& arena, const nn::Batch& batch, const Taps& taps,
              const nn::Tensor& x, const nn::Tensor& h);

  void read_config(const ModelConfig& config);
  void read_weights(nn::WeightTable& table, const ModelConfig& config);
  void read_rotary(nn::WeightTable& table, const ModelConfig& config);
  void extend_rotary(std::int64_t n_positions);

  EncoderShape shape_;
  bool token_dropout_ = true;

  nn::Tensor embedding_;              // f32 [V, d]
  std::vector<EncoderLayer> layers_;  // q scaled by 1 / sqrt(head size)
  nn::Norm final_norm_;
  nn::Encoder encoder_;  // the same, as a whole
  LanguageHead head_;
  nn::Tensor contact_weight_;                // f32 [n_layers * n_heads]
  std::vector<nn::Tensor> contact_weights_;  // the part of each layer
  float contact_bias_ = 0;
  std::vector<float> inverse_frequencies_;  // [head size / 2]
  nn::Rotary rotary_;
};

}  // namespace biogpu::infer
