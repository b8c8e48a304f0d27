#include "lib/models/layers/language_head.hpp"

#include <algorithm>
#include <utility>

#include "lib/ops/add_layer_norm.hpp"
#include "lib/ops/gather_rows.hpp"
#include "lib/ops/gemm.hpp"
#include "lib/ops/log_softmax.hpp"

namespace biogpu::models {

using ops::Activation;
using tensor::DType;
using tensor::Tensor;

tensor::HostTensor take_head_words(const ModelConfig& config, tensor::WeightTable& table,
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

void LanguageHead::run(tensor::Context& context, tensor::Arena& arena, const Pass& pass) const {
  const auto scope = arena.scope();
  const std::int64_t n_rows = pass.rows.shape[0], d = dense_.n_in;
  const Tensor rows = arena.take(context.operand(), {n_rows, d});
  const Tensor y = arena.take(DType::f32, {n_rows, d});
  ops::gather_rows(context, {pass.h, pass.rows, rows});
  ops::gemm(context, {rows, &dense_, Activation::gelu_erf, {}, y});
  ops::add_layer_norm(context, {y, {}, norm_, {}, {}, rows});
  ops::gemm(context, {rows, &words_, Activation::none, {}, pass.logits});
  if (pass.log_probabilities) ops::log_softmax(context, {pass.logits});
}

}  // namespace biogpu::models
