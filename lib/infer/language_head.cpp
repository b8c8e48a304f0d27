#include "lib/infer/language_head.hpp"

#include <algorithm>
#include <utility>

namespace biogpu::infer {

using nn::Activation;
using nn::DType;
using nn::Tensor;

nn::HostTensor take_head_words(const ModelConfig& config, nn::WeightTable& table,
                               const std::string& name, nn::HostTensor embedding) {
  const bool tied = config.flag_or("tie_word_embeddings", true);
  if (tied && !table.has(name)) return embedding;
  nn::HostTensor own = table.take(name, {embedding.view.shape[0], embedding.view.shape[1]});
  if (tied && own.found && embedding.found &&
      !std::equal(own.values.begin(), own.values.end(), embedding.values.begin()))
    table.note_untied(name);
  return own;
}

LanguageHead::LanguageHead(nn::Backend& backend, nn::WeightTable& table,
                           const LanguageHeadWeights& weights) {
  const std::int64_t d = weights.words.shape[1];
  dense_ = table.take_linear(backend, weights.dense, d, d);
  norm_ = table.take_norm(backend, weights.norm, d, weights.eps);
  words_ = backend.upload_linear(weights.words, weights.bias);
}

void LanguageHead::run(nn::Backend& backend, nn::Arena& arena, const Pass& pass) const {
  const auto scope = arena.scope();
  const std::int64_t n_rows = pass.rows.shape[0], d = dense_.n_in;
  const Tensor rows = arena.take(backend.operand(), {n_rows, d});
  const Tensor y = arena.take(DType::f32, {n_rows, d});
  backend.gather_rows(rows, pass.h, pass.rows);
  backend.gemm({rows, &dense_, Activation::gelu_erf, {}, y});
  backend.add_layer_norm({y, {}, norm_, {}, {}, rows});
  backend.gemm({rows, &words_, Activation::none, {}, pass.logits});
  if (pass.log_probabilities) backend.log_softmax(pass.logits);
}

}  // namespace biogpu::infer
