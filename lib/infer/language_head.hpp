#pragma once

#include <string>

#include "lib/infer/model_config.hpp"
#include "lib/nn/backend.hpp"
#include "lib/nn/weights/weight_table.hpp"

namespace biogpu::infer {

// What a language head is read from: two names in a checkpoint, and what a model finds by itself.
struct LanguageHeadWeights {
  std::string dense;
  std::string norm;
  float eps = 0;
  nn::Tensor words;  // f32 [V, d] on the host
  nn::Tensor bias;   // f32 [V] on the host
};

// The words of a head: those of the embedding, or, where config.json does not tie the two, those
// stored under `name`. Words that are tied and differ are a defect that table.finish() tells.
nn::HostTensor take_head_words(const ModelConfig& config, nn::WeightTable& table,
                               const std::string& name, nn::HostTensor embedding);

// Scores of the vocabulary's words at a token: dense, GELU, normalisation, words.
// (Devlin et al. 2019, doi 10.18653/v1/N19-1423)
class LanguageHead {
 public:
  LanguageHead() = default;
  LanguageHead(nn::Backend& backend, nn::WeightTable& table, const LanguageHeadWeights& weights);

  struct Pass {
    nn::Tensor h;       // operand [T, d], the encoder's output
    nn::Tensor rows;    // i32 [R], the tokens that logits are for
    nn::Tensor logits;  // f32 [R, V], out
    bool log_probabilities = false;
  };
  void run(nn::Backend& backend, nn::Arena& arena, const Pass& pass) const;

 private:
  nn::Linear dense_;
  nn::Norm norm_;
  nn::Linear words_;
};

}  // namespace biogpu::infer
