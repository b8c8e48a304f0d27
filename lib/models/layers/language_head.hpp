#pragma once

#include <string>

#include "lib/models/base/model_config.hpp"
#include "lib/models/base/pass.hpp"
#include "lib/tensor/context.hpp"
#include "lib/tensor/weights/weight_table.hpp"

namespace biogpu::models {

// What a language head is read from: two names in a checkpoint, and what a model finds by itself.
struct LanguageHeadWeights {
  std::string dense;
  std::string norm;
  float eps = 0;
  tensor::Tensor words;  // f32 [V, d] on the host
  tensor::Tensor bias;   // f32 [V] on the host
};

// The words of a head: those of the embedding, or, where config.json does not tie the two, those
// stored under `name`. Words that are tied and differ are a defect that table.finish() tells.
tensor::HostTensor take_decoder_weight(const ModelConfig& config, tensor::WeightTable& table,
                                       const std::string& name, tensor::HostTensor embedding);

// Scores of the vocabulary's words at a token: dense, GELU, normalisation, words.
// (Devlin et al. 2019, doi 10.18653/v1/N19-1423)
class LanguageHead {
 public:
  LanguageHead() = default;
  LanguageHead(tensor::Context& context, tensor::WeightTable& table,
               const LanguageHeadWeights& weights);

  // Fills the pass's logits or log-probabilities, if it has any. h: operand [T, d], the encoder's
  // output. rows: i32 [R], the tokens that they are for.
  void run(Pass& pass, const tensor::Tensor& h, const tensor::Tensor& rows) const;

 private:
  tensor::Linear dense_;
  tensor::Norm norm_;
  tensor::Linear words_;
};

}  // namespace biogpu::models
