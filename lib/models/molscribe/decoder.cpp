#include "lib/models/molscribe/decoder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string>

#include "lib/ops/attention/cross_attention.hpp"
#include "lib/ops/elementwise/fill_zero.hpp"
#include "lib/ops/gather/append_rows.hpp"
#include "lib/ops/gather/embed.hpp"
#include "lib/ops/gather/gather_rows.hpp"
#include "lib/ops/gemm/gemm.hpp"
#include "lib/ops/normalisation/add_layer_norm.hpp"

namespace biogpu::models::molscribe {
namespace {

using ops::Activation;
using tensor::Arena;
using tensor::Context;
using tensor::DType;
using tensor::HostTensor;
using tensor::Tensor;
using tensor::WeightTable;

constexpr float kDecoderEps = 1e-6f;

void normalise(Context& context, const Tensor& x, const tensor::Norm& norm, const Tensor& out,
               const Tensor& hidden = {}) {
  ops::AddLayerNorm op;
  op.x = x;
  op.norm = norm;
  op.out = hidden;
  op.out_operand = out;
  ops::add_layer_norm(context, op);
}

Tensor layer_of(const Tensor& all, std::int64_t layer) {
  const Tensor one = all.slice(0, layer, layer + 1);
  return {one.data, one.dtype, {one.shape[1], one.shape[2]}};
}

}  // namespace

TokenDecoder::TokenDecoder(const Config& config, const Vocabulary& vocabulary, WeightTable& table,
                           Context& context)
    : width_(config.decoder_width),
      n_heads_(config.decoder_heads),
      n_layers_(config.decoder_layers),
      n_tokens_(vocabulary.size()),
      is_fused_(context.kind() == Context::Kind::gpu && context.compute_dtype() == DType::f32 &&
                table.maps() == WeightTable::Maps::read &&
                can_decode_steps(width_, n_heads_, n_tokens_, config.n_memory())) {
  const std::string root = "decoder.decoder.chartok_coords.";
  const std::int64_t d = width_;
  to_memory_ = table.take_linear(context, root + "enc_trans_layer.0", d, config.encoder_width());
  std::vector<std::string> keys_values;
  for (std::int64_t i = 0; i < n_layers_; ++i)
    for (const char* part : {"keys", "values"})
      keys_values.push_back(
          fmt::format("{}decoder.transformer_layers.{}.context_attn.linear_{}", root, i, part));
  memory_keys_values_ = table.take_linears(context, keys_values, d, d, 1);
  if (is_fused_) {
    fused_ = take_step_weights(config, n_tokens_, root, table, context);
  } else {
    take_layers(config, root, table, context);
    head_ = table.take_linear(context, root + "output_layer", n_tokens_, d);
  }
  last_norm_ = table.take_norm(context, root + "decoder.layer_norm", d, kDecoderEps);
  HostTensor embeddings =
      table.take(root + "embeddings.make_embedding.emb_luts.0.weight", {n_tokens_, d});
  table.ignore(root + "embeddings.make_embedding.pe.pe");
  if (!embeddings.found) return;
  const auto scale = static_cast<float>(std::sqrt(static_cast<double>(d)));
  float* const numbers = embeddings.values.data();
  for (std::int64_t i = 0; i < n_tokens_ * d; ++i)
    numbers[i] = numbers[i] * scale + static_cast<float>(i % d % 2);  // sin 0, cos 0
  table_ = context.upload(embeddings.view, DType::f32);
}

void TokenDecoder::take_layers(const Config& config, const std::string& root, WeightTable& table,
                               Context& context) {
  const std::int64_t d = width_;
  for (std::int64_t i = 0; i < config.decoder_layers; ++i) {
    const std::string name = fmt::format("{}decoder.transformer_layers.{}.", root, i);
    const std::array<std::string, 3> qkv{name + "self_attn.linear_query",
                                         name + "self_attn.linear_keys",
                                         name + "self_attn.linear_values"};
    Layer layer;
    layer.qkv = table.take_linears(context, qkv, d, d, 1);
    layer.self_out = table.take_linear(context, name + "self_attn.final_linear", d, d);
    layer.q = table.take_linear(context, name + "context_attn.linear_query", d, d);
    layer.cross_out = table.take_linear(context, name + "context_attn.final_linear", d, d);
    layer.self_norm = table.take_norm(context, name + "layer_norm_1", d, kDecoderEps);
    layer.cross_norm = table.take_norm(context, name + "layer_norm_2", d, kDecoderEps);
    layer.ffn_norm = table.take_norm(context, name + "feed_forward.layer_norm", d, kDecoderEps);
    layer.ffn_up = table.take_linear(context, name + "feed_forward.w_1", 4 * d, d);
    layer.ffn_down = table.take_linear(context, name + "feed_forward.w_2", d, 4 * d);
    layers_.push_back(std::move(layer));
  }
}

void TokenDecoder::make_memory(Context& context, Arena& arena, const Tensor& encoded,
                               const Tensor& memory) const {
  const auto scope = arena.scope();
  const Tensor narrow = arena.take(context.compute_dtype(), {encoded.shape[0], width_});
  ops::gemm(context, {encoded, &to_memory_, Activation::none, {}, narrow});
  ops::gemm(context, {narrow, &memory_keys_values_, Activation::none, {}, memory});
}

void TokenDecoder::step(Context& context, Arena& arena, const Tensor& tokens, const Caches& caches,
                        const Tensor& hidden, const Tensor& logits) const {
  const auto scope = arena.scope();
  const std::int64_t n = tokens.shape[0], d = width_;
  const DType operand = context.compute_dtype();
  const float scale = 1 / std::sqrt(static_cast<float>(d / n_heads_));
  const Tensor x = arena.take(DType::f32, {n, d});
  const Tensor y = arena.take(operand, {n, d}), q = arena.take(operand, {n, d}),
               mixed = arena.take(operand, {n, d}), qkv = arena.take(operand, {n, 3 * d}),
               up = arena.take(operand, {n, 4 * d});
  const auto part = [&](const Tensor& of, std::int64_t i) {
    return tensor::split_heads(of.slice(1, i * d, (i + 1) * d), n_heads_);
  };
  ops::Embed embed;
  embed.table = table_;
  embed.ids = tokens;
  embed.norm = layers_.front().self_norm;
  embed.sum = x;
  embed.out_operand = y;
  ops::embed(context, embed);
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const Layer& layer = layers_[i];
    const auto at = static_cast<std::int64_t>(i);
    if (i > 0) normalise(context, x, layer.self_norm, y);
    ops::gemm(context, {y, &layer.qkv, Activation::none, {}, qkv});
    const Tensor own = layer_of(caches.own, at);
    ops::append_rows(context, {qkv.slice(1, d, 3 * d), caches.own_starts, caches.lengths, own});
    ops::cross_attention(context, {part(qkv, 0), part(own, 0), part(own, 1), scale, &caches.queries,
                                   caches.own_starts, caches.n_keys, false, mixed});
    ops::gemm(context, {mixed, &layer.self_out, Activation::none, x, x});
    normalise(context, x, layer.cross_norm, y);
    ops::gemm(context, {y, &layer.q, Activation::none, {}, q});
    ops::cross_attention(context, {tensor::split_heads(q, n_heads_),
                                   part(caches.memory, 2 * at),
                                   part(caches.memory, 2 * at + 1),
                                   scale,
                                   &caches.queries,
                                   caches.memory_starts,
                                   {},
                                   false,
                                   mixed});
    ops::gemm(context, {mixed, &layer.cross_out, Activation::none, x, x});
    normalise(context, x, layer.ffn_norm, y);
    ops::gemm(context, {y, &layer.ffn_up, Activation::gelu_erf, {}, up});
    ops::gemm(context, {up, &layer.ffn_down, Activation::none, x, x});
  }
  normalise(context, x, last_norm_, y, hidden);
  ops::gemm(context, {y, &head_, Activation::none, {}, logits});
}

void TokenDecoder::steps(Context& context, std::int64_t n_steps, const Caches& caches,
                         const SelectToken& state) const {
  DecodeSteps op;
  op.n_steps = n_steps;
  op.n_heads = n_heads_;
  op.layers = fused_.layers;
  op.eps = kDecoderEps;
  op.table = table_;
  op.last_norm = last_norm_;
  op.head = fused_.head;
  op.head_bias = fused_.head_bias;
  op.own = caches.own;
  op.memory = caches.memory;
  op.state = state;
  decode_steps(context, op);
}

namespace {

// Tensors of the rows' state in an arena, and of one step behind them.
void take_state(Arena& arena, const TokenDecoder& decoder, const Config& config,
                std::int64_t n_rows, DType operand, TokenDecoder::Caches& caches,
                SelectToken& select) {
  const std::int64_t capacity = config.max_length, d = decoder.width();
  caches.own = arena.take(operand, {decoder.n_layers(), n_rows * capacity, 2 * d});
  caches.memory = arena.take(operand, {n_rows * config.n_memory(), decoder.memory_width()});
  caches.own_starts = arena.take(DType::i32, {n_rows + 1});
  caches.memory_starts = arena.take(DType::i32, {n_rows + 1});
  caches.lengths = select.lengths = arena.take(DType::i32, {n_rows});
  caches.n_keys = select.n_keys = arena.take(DType::i32, {n_rows});
  select.tokens = arena.take(DType::i32, {n_rows});
  select.hidden = arena.take(DType::f32, {n_rows, d});
  select.logits = arena.take(DType::f32, {n_rows, decoder.n_tokens()});
  select.history = arena.take(DType::i32, {n_rows, capacity});
  select.log_probabilities = arena.take(DType::f32, {n_rows, capacity});
  select.margins = arena.take(DType::f32, {n_rows, capacity});
  select.states = arena.take(DType::f32, {n_rows * capacity, d});
}

}  // namespace

std::size_t DecodeRows::bytes(const TokenDecoder& decoder, const Config& config,
                              std::int64_t n_rows, tensor::Precision precision) {
  const auto dry_run = tensor::make_dry_run_context(precision);
  Arena arena = Arena::measuring();
  TokenDecoder::Caches caches;
  SelectToken select;
  take_state(arena, decoder, config, n_rows, dry_run->compute_dtype(), caches, select);
  std::vector<std::int32_t> starts(static_cast<std::size_t>(n_rows + 1));
  std::iota(starts.begin(), starts.end(), 0);
  caches.queries = dry_run->upload_ragged(starts, arena);
  if (!decoder.is_fused())
    decoder.step(*dry_run, arena, select.tokens, caches, select.hidden, select.logits);
  return arena.peak_bytes() + arena.peak_bytes() / 16 + (std::size_t{1} << 20);
}

DecodeRows::DecodeRows(Context& context, const TokenDecoder& decoder, const Config& config,
                       const Vocabulary& vocabulary, std::int64_t n_rows)
    : context_(context),
      decoder_(decoder),
      n_rows_(n_rows),
      capacity_(config.max_length),
      n_memory_(config.n_memory()),
      arena_(nullptr, 0) {
  const std::size_t n_bytes = bytes(decoder, config, n_rows, context.precision());
  memory_ = context.allocate(n_bytes);
  arena_ = Arena(memory_, n_bytes);
  take_state(arena_, decoder, config, n_rows, context.compute_dtype(), caches_, select_);
  std::vector<std::int32_t> starts(static_cast<std::size_t>(n_rows + 1));
  std::iota(starts.begin(), starts.end(), 0);
  caches_.queries = context.upload_ragged(starts, arena_);
  const auto copy_starts = [&](const Tensor& to, std::int64_t n) {
    std::vector<std::int32_t> scaled = starts;
    for (std::int32_t& start : scaled) start *= static_cast<std::int32_t>(n);
    context.copy_in(to, scaled.data());
  };
  copy_starts(caches_.own_starts, capacity_);
  copy_starts(caches_.memory_starts, n_memory_);
  select_.rule = {vocabulary.n_symbols(), vocabulary.n_bins(), stop_};
  // Rows without an image are at their end; what they attend to has to be numbers.
  tokens_.assign(static_cast<std::size_t>(n_rows), stop_);
  lengths_.assign(static_cast<std::size_t>(n_rows), static_cast<std::int32_t>(capacity_));
  const auto clear = [&](const Tensor& x) {
    const auto n = static_cast<std::int64_t>(x.bytes() / sizeof(float));
    ops::fill_zero(context, {Tensor(x.data, DType::f32, {n})});
  };
  clear(caches_.own);
  clear(caches_.memory);
  put();
}

DecodeRows::~DecodeRows() { context_.release(memory_); }

void DecodeRows::put() {
  context_.copy_in(select_.tokens, tokens_.data());
  context_.copy_in(select_.lengths, lengths_.data());
  std::vector<std::int32_t> n_keys = lengths_;
  for (std::int32_t& n : n_keys) n = std::min(n + 1, static_cast<std::int32_t>(capacity_));
  context_.copy_in(select_.n_keys, n_keys.data());
}

void DecodeRows::start(std::int64_t row, const Tensor& memory) {
  ops::gather_rows(context_,
                   {memory, {}, caches_.memory.slice(0, row * n_memory_, (row + 1) * n_memory_)});
  tokens_[static_cast<std::size_t>(row)] = Vocabulary::kStart;
  lengths_[static_cast<std::size_t>(row)] = 0;
  put();
}

void DecodeRows::step(std::int64_t n) {
  if (decoder_.is_fused()) return decoder_.steps(context_, n, caches_, select_);
  for (std::int64_t i = 0; i < n; ++i)
    context_.capture(reinterpret_cast<std::uintptr_t>(memory_) ^ 0x6D6F6C73, [&] {
      decoder_.step(context_, arena_, select_.tokens, caches_, select_.hidden, select_.logits);
      select_token(context_, select_);
    });
}

void DecodeRows::fetch() {
  context_.copy_out(tokens_.data(), select_.tokens);
  context_.copy_out(lengths_.data(), select_.lengths);
  context_.synchronize();
}

bool DecodeRows::is_at_end(std::int64_t row) const {
  const std::int32_t n = lengths_[static_cast<std::size_t>(row)];
  return n == capacity_ || (n > 0 && tokens_[static_cast<std::size_t>(row)] == stop_);
}

DecodeRows::Sequence DecodeRows::sequence(std::int64_t row) const {
  const std::int64_t n = length(row);
  Sequence sequence;
  sequence.tokens.resize(static_cast<std::size_t>(n));
  sequence.log_probabilities.resize(static_cast<std::size_t>(n));
  sequence.margins.resize(static_cast<std::size_t>(n));
  const auto of_row = [&](const Tensor& x) {
    const Tensor part = x.slice(0, row, row + 1).slice(1, 0, n);
    return Tensor(part.data, part.dtype, {n});
  };
  context_.copy_out(sequence.tokens.data(), of_row(select_.history));
  const auto as_line = [&](const Tensor& x) {
    const Tensor part = of_row(x);
    return Tensor(part.data, part.dtype, {1, n});
  };
  context_.copy_out(sequence.log_probabilities.data(), as_line(select_.log_probabilities));
  context_.copy_out(sequence.margins.data(), as_line(select_.margins));
  context_.synchronize();
  return sequence;
}

}  // namespace biogpu::models::molscribe
