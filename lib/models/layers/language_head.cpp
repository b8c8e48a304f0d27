#include "lib/models/layers/language_head.hpp"

#include <algorithm>
#include <utility>

#include "lib/models/base/protein_model.hpp"
#include "lib/ops/gather/gather_rows.hpp"
#include "lib/ops/gemm/gemm.hpp"
#include "lib/ops/normalisation/add_layer_norm.hpp"
#include "lib/ops/normalisation/log_softmax.hpp"

namespace biogpu::models {

using ops::Activation;
using tensor::DType;
using tensor::Tensor;

tensor::HostTensor take_decoder_weight(const ModelConfig& config, tensor::WeightTable& table,
                                       const std::string& name, tensor::HostTensor embedding) {
  const bool tied = config.flag_or("tie_word_embeddings", true);
  if (tied && !table.has(name)) return embedding;
  tensor::HostTensor own = table.take(name, {embedding.view.shape[0], embedding.view.shape[1]});
  if (tied && own.found && embedding.found &&
      !std::equal(own.values.begin(), own.values.end(), embedding.values.begin()))
    table.note_untied(name);
  return own;
}

LanguageHead::LanguageHead(tensor::Context& context, tensor::WeightTable& table,
                           const LanguageHeadWeights& weights) {
  const std::int64_t d = weights.words.shape[1];
  dense_ = table.take_linear(context, weights.dense, d, d);
  norm_ = table.take_norm(context, weights.norm, d, weights.eps);
  words_ = context.upload_linear(weights.words, weights.bias);
}

void LanguageHead::run(Pass& pass, const Tensor& h, const Tensor& rows) const {
  tensor::Context& context = pass.context();
  const Tensor scores = pass.find(kLogits), probabilities = pass.find(kLogProbabilities);
  const Tensor& logits = scores.empty() ? probabilities : scores;
  if (logits.empty()) return;
  const auto scope = pass.arena().scope();
  const std::int64_t n_rows = rows.shape[0], d = dense_.n_in;
  const Tensor gathered = pass.arena().take(context.compute_dtype(), {n_rows, d});
  const Tensor y = pass.arena().take(DType::f32, {n_rows, d});
  ops::gather_rows(context, {h, rows, gathered});
  ops::gemm(context, {gathered, &dense_, Activation::gelu_erf, {}, y});
  ops::add_layer_norm(context, {y, {}, norm_, {}, {}, gathered});
  ops::gemm(context, {gathered, &words_, Activation::none, {}, logits});
  if (!probabilities.empty()) ops::log_softmax(context, {logits});
}

}  // namespace biogpu::models
