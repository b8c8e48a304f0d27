#include "lib/models/protein_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"
#include "lib/models/esm2/esm2.hpp"
#include "lib/models/model_config.hpp"
#include "lib/models/protbert/protbert.hpp"
#include "lib/ops/gather_rows.hpp"
#include "lib/ops/mean_pool.hpp"

namespace biogpu::models {
namespace {

using tensor::DType;
using tensor::Tensor;

std::uint64_t mix(std::uint64_t key, std::uint64_t value) {
  return (key ^ value) * 0x9e3779b97f4a7c15u + (key >> 29);
}

// Equal for passes that differ in the contents of memory only.
std::uint64_t key_of(const DeviceTokens& batch, const Request& request, std::int64_t n_rows,
                     std::int64_t n_pairs) {
  std::uint64_t key = mix(0, static_cast<std::uint64_t>(batch.segments.n_rows));
  key = mix(key, static_cast<std::uint64_t>(batch.segments.n_segments));
  key = mix(key, static_cast<std::uint64_t>(batch.segments.max_length));
  key = mix(key, static_cast<std::uint64_t>(n_rows));
  if (request.contacts) key = mix(key, static_cast<std::uint64_t>(n_pairs));
  for (const int layer : request.layers) key = mix(key, static_cast<std::uint64_t>(layer) + 1);
  key = mix(key, (request.per_residue ? 1u : 0u) | (request.mean ? 2u : 0u) |
                     (request.begin ? 4u : 0u) | (request.logits ? 8u : 0u) |
                     (request.contacts ? 16u : 0u) | (request.log_probabilities ? 32u : 0u) |
                     (request.logit_rows.empty() ? 0u : 64u));
  return mix(key, batch.scale.empty() ? 0 : 1);
}

struct ResidueRows {
  std::vector<std::int32_t> residues, begins;
  std::vector<std::int64_t> first_pairs;  // of each sequence, where n_residues^2 are counted
  std::int64_t n_pairs = 0;               // of all
};

ResidueRows residue_rows_of(const TokenBatch& batch) {
  ResidueRows rows;
  for (std::size_t s = 0; s + 1 < batch.starts.size(); ++s) {
    rows.begins.push_back(batch.starts[s]);
    const std::int32_t first = batch.starts[s] + 1, last = batch.starts[s + 1] - 1;
    for (std::int32_t t = first; t < last; ++t) rows.residues.push_back(t);
    const std::int64_t n = std::max(0, last - first);
    rows.first_pairs.push_back(rows.n_pairs);
    rows.n_pairs += n * n;
  }
  return rows;
}

Tensor upload_rows(tensor::Context& context, tensor::Arena& arena,
                   const std::vector<std::int32_t>& rows) {
  const Tensor tensor = arena.take(DType::i32, {static_cast<std::int64_t>(rows.size())});
  context.copy_in(tensor, rows.data());
  return tensor;
}

DeviceTokens upload(tensor::Context& context, tensor::Arena& arena, const TokenBatch& host) {
  DeviceTokens batch;
  batch.ids = arena.take(DType::i32, {static_cast<std::int64_t>(host.ids.size())});
  if (!host.scale.empty()) batch.scale = arena.take(DType::f32, {batch.ids.shape[0]});
  batch.segments = context.upload_ragged(host.starts, arena);
  context.copy_in(batch.ids, host.ids.data());
  if (!host.scale.empty()) context.copy_in(batch.scale, host.scale.data());
  return batch;
}

io::Values fetch(tensor::Context& context, const Tensor& from) {
  io::Values host = io::Values::unset(static_cast<std::size_t>(from.size()));
  if (!host.empty()) context.copy_out(host.data(), from);
  return host;
}

}  // namespace

void ProteinModel::Taps::hidden(tensor::Context& context, const DeviceTokens& batch, int layer,
                                const Tensor& x) const {
  for (std::size_t i = 0; i < request->layers.size(); ++i) {
    if (request->layers[i] != layer) continue;
    if (request->per_residue) ops::gather_rows(context, {x, residue_rows, residues[i]});
    if (request->mean) ops::mean_pool(context, {x, &batch.segments, 1, 1, mean[i]});
    if (request->begin) ops::gather_rows(context, {x, begin_rows, begin[i]});
  }
}

void ProteinModel::pass(tensor::Context& context, tensor::Arena& arena, const TokenBatch& host,
                        const Request& request, Outputs* outputs) {
  const auto scope = arena.scope();
  DeviceTokens batch = upload(context, arena, host);
  const ResidueRows rows = residue_rows_of(host);
  const auto n_residues = static_cast<std::int64_t>(rows.residues.size());
  const std::int64_t d = info_.d_model;
  Taps taps;
  taps.request = &request;
  taps.residue_rows = upload_rows(context, arena, rows.residues);
  taps.begin_rows = upload_rows(context, arena, rows.begins);
  for (std::size_t i = 0; i < request.layers.size(); ++i) {
    taps.residues.push_back(request.per_residue ? arena.take(DType::f32, {n_residues, d})
                                                : Tensor());
    taps.mean.push_back(request.mean ? arena.take(DType::f32, {batch.segments.n_segments, d})
                                     : Tensor());
    taps.begin.push_back(request.begin ? arena.take(DType::f32, {batch.segments.n_segments, d})
                                       : Tensor());
  }
  if (request.logits) {
    taps.logit_rows = request.logit_rows.empty() ? taps.residue_rows
                                                 : upload_rows(context, arena, request.logit_rows);
    taps.logits = arena.take(DType::f32, {taps.logit_rows.shape[0], info_.vocabulary.size()});
  }
  if (request.contacts) {
    taps.contacts = arena.take(DType::f32, {rows.n_pairs});
    batch.first_score = arena.take(DType::i64, {batch.segments.n_segments});
    context.copy_in(batch.first_score, rows.first_pairs.data());
  }
  const std::int64_t n_rows = n_residues * 3 + (request.logits ? taps.logit_rows.shape[0] : 0);
  context.run_captured(key_of(batch, request, n_rows, rows.n_pairs),
                       [&] { forward(context, arena, batch, taps); });
  if (outputs == nullptr) return;

  for (std::size_t i = 0; i < request.layers.size(); ++i)
    outputs->layers.push_back({request.layers[i], fetch(context, taps.residues[i]),
                               fetch(context, taps.mean[i]), fetch(context, taps.begin[i])});
  outputs->logits = fetch(context, taps.logits);
  if (request.contacts)
    outputs->contacts = fetch(context, Tensor(taps.contacts.data, DType::f32, {1, rows.n_pairs}));
  context.synchronize();
}

Outputs ProteinModel::run(TokenBatch batch, const Request& request) {
  if (request.contacts && !info_.has_contacts)
    throw Error(ErrorCode::bad_input, info_.architecture + " weights without a contact head");
  if (request.logits && !info_.has_logits)
    throw Error(ErrorCode::bad_input,
                info_.architecture + " weights without a language model head");
  prepare(batch);
  const auto dry_run = tensor::make_dry_run_context(context_.precision());
  tensor::Arena measure = tensor::Arena::measuring();
  pass(*dry_run, measure, batch, request, nullptr);
  // A context may round the batch up to a bucket.
  const std::size_t needed = measure.peak_bytes() + measure.peak_bytes() / 8 + (1u << 20);
  if (needed > bytes_) {
    if (memory_ != nullptr) context_.release(std::exchange(memory_, nullptr));
    bytes_ = 0;
    memory_ = context_.allocate(needed);
    bytes_ = needed;
  }
  tensor::Arena arena(memory_, bytes_);
  Outputs outputs;
  pass(context_, arena, batch, request, &outputs);
  device_seconds_ += context_.captured_seconds();
  return outputs;
}

std::size_t ProteinModel::measure(std::int64_t n_tokens, const Request& request) {
  TokenBatch batch;
  batch.ids.assign(static_cast<std::size_t>(n_tokens), 0);
  batch.starts = {0, static_cast<std::int32_t>(n_tokens)};
  const auto dry_run = tensor::make_dry_run_context(context_.precision());
  tensor::Arena arena = tensor::Arena::measuring();
  pass(*dry_run, arena, batch, request, nullptr);
  return arena.peak_bytes();
}

std::unique_ptr<ProteinModel> load_protein_model(const std::string& folder,
                                                 tensor::Context& context,
                                                 const LoadOptions& options) {
  const ModelConfig config(folder);
  // ProtBERT's published config.json has no model_type: BERT is what is assumed without one.
  const std::string type = config.text_or("model_type", "bert");
  if (type == "esm") return std::make_unique<Esm2>(folder, config, context, options.maps);
  if (type == "bert") return std::make_unique<ProtBert>(folder, config, context, options);
  config.fail(fmt::format("model_type is {}; known are 'esm' (ESM-2) and 'bert' (ProtBERT)",
                          biogpu::quoted(type)));
}

}  // namespace biogpu::models
