#include "lib/models/base/protein_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <stdexcept>

#include "lib/core/error.hpp"
#include "lib/ops/gather/gather_rows.hpp"
#include "lib/ops/reduction/mean_pool.hpp"

namespace biogpu::models {
namespace {

using tensor::DType;
using tensor::Tensor;

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

}  // namespace

std::string ProteinModel::describe() const {
  std::string text;
  const auto line = [&](const char* key, const auto& value) {
    text += fmt::format("{}\t{}\n", key, value);
  };
  line("architecture", info_.architecture);
  line("layers", info_.n_layers);
  line("width", info_.d_model);
  line("heads", info_.n_heads);
  line("parameters", info_.n_parameters);
  line("longest_sequence", info_.max_residues == 0 ? "any" : std::to_string(info_.max_residues));
  line("longest_in_training", info_.trained_residues);
  line("language_model_head", info_.has_logits ? "yes" : "no");
  line("contact_head", info_.has_contacts ? "yes" : "no");
  line("vocabulary", fmt::format("{}", fmt::join(info_.vocabulary.tokens, " ")));
  return text;
}

bool ProteinModel::wants_hidden(const Pass& pass, int layer) {
  return !pass.find(hidden_of_residues(layer)).empty() || !pass.find(mean_hidden(layer)).empty() ||
         !pass.find(begin_hidden(layer)).empty();
}

void ProteinModel::give_hidden(Pass& pass, const DeviceTokens& batch, int layer, const Tensor& x) {
  const Tensor residues = pass.find(hidden_of_residues(layer));
  const Tensor mean = pass.find(mean_hidden(layer)), begin = pass.find(begin_hidden(layer));
  if (!residues.empty()) ops::gather_rows(pass.context(), {x, batch.residue_rows, residues});
  if (!mean.empty()) ops::mean_pool(pass.context(), {x, &batch.segments, 1, 1, mean});
  if (!begin.empty()) ops::gather_rows(pass.context(), {x, batch.begin_rows, begin});
}

void ProteinModel::check(const std::vector<std::string>& outputs) const {
  int n_logits = 0;
  for (const std::string& name : outputs) {
    const bool logits = name == kLogits || name == kLogProbabilities;
    n_logits += logits ? 1 : 0;
    if (name == kContacts && !info_.has_contacts)
      throw Error(ErrorCode::bad_input, info_.architecture + " weights without a contact head");
    if (logits && !info_.has_logits)
      throw Error(ErrorCode::bad_input,
                  info_.architecture + " weights without a language model head");
    const std::optional<int> layer = hidden_layer(name);
    if (name != kContacts && !logits && !(layer && *layer >= 0 && *layer <= info_.n_layers))
      throw std::invalid_argument(info_.architecture + " has no output " + name);
  }
  if (n_logits > 1)
    throw std::invalid_argument("logits and their log-probabilities are two passes");
}

void ProteinModel::forward_pass(Pass& pass, const TokenBatch& host, const std::vector<float>& scale,
                                const std::vector<std::string>& outputs) {
  const ResidueRows rows = residue_rows_of(host);
  DeviceTokens batch;
  batch.ids = pass.upload(host.ids);
  if (!scale.empty()) batch.scale = pass.upload(scale);
  batch.segments = pass.segments(host.starts);
  batch.residue_rows = pass.upload(rows.residues);
  batch.begin_rows = pass.upload(rows.begins);
  const std::int64_t n_residues = batch.residue_rows.shape[0];
  const std::int64_t n_sequences = batch.segments.n_segments;
  for (const std::string& name : outputs) {
    if (name == kContacts) {
      pass.output(name, {rows.n_pairs});
      batch.first_score = pass.upload(DType::i64, {n_sequences}, rows.first_pairs.data());
    } else if (name == kLogits || name == kLogProbabilities) {
      batch.logit_rows =
          host.logit_rows.empty() ? batch.residue_rows : pass.upload(host.logit_rows);
      pass.output(name, {batch.logit_rows.shape[0], info_.vocabulary.size()});
    } else {
      const bool of_residues = name == hidden_of_residues(*hidden_layer(name));
      pass.output(name, {of_residues ? n_residues : n_sequences, info_.d_model});
    }
  }
  pass.run([&] { forward(pass, batch); });
}

Outputs ProteinModel::run(TokenBatch batch, const std::vector<std::string>& outputs) {
  check(outputs);
  const std::vector<float> scale = prepare(batch);
  return run_pass([&](Pass& pass) { forward_pass(pass, batch, scale, outputs); });
}

std::size_t ProteinModel::measure(std::int64_t n_tokens, const std::vector<std::string>& outputs) {
  TokenBatch batch;
  batch.ids.assign(static_cast<std::size_t>(n_tokens), 0);
  batch.starts = {0, static_cast<std::int32_t>(n_tokens)};
  return measure_pass([&](Pass& pass) { forward_pass(pass, batch, {}, outputs); });
}

std::string hidden_of_residues(int layer) { return fmt::format("hidden.{}", layer); }
std::string mean_hidden(int layer) { return fmt::format("hidden.{}.mean", layer); }
std::string begin_hidden(int layer) { return fmt::format("hidden.{}.begin", layer); }

std::optional<int> hidden_layer(std::string_view name) {
  constexpr std::string_view kPrefix = "hidden.";
  if (!name.starts_with(kPrefix)) return {};
  name.remove_prefix(kPrefix.size());
  int layer = 0;
  const char* const end = name.data() + name.size();
  const auto read = std::from_chars(name.data(), end, layer);
  const std::string_view rest(read.ptr, static_cast<std::size_t>(end - read.ptr));
  if (read.ec != std::errc() || !(rest.empty() || rest == ".mean" || rest == ".begin")) return {};
  return layer;
}

}  // namespace biogpu::models
