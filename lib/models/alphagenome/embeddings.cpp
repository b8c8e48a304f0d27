// Embeddings of AlphaGenome and the heads that read them, in one pass with the rest or in their
// own.
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "lib/models/alphagenome/alphagenome.hpp"
#include "lib/ops/elementwise/map.hpp"
#include "lib/ops/gather/gather_rows.hpp"
#include "lib/ops/gather/repeat_rows.hpp"
#include "lib/ops/gemm/gemm.hpp"
#include "lib/ops/normalisation/add_layer_norm.hpp"
#include "lib/tensor/views.hpp"

namespace biogpu::models {

using alphagenome::kContactMaps;
using alphagenome::UnetRows;
using ops::Activation;
using ops::MapCode;
using tensor::DType;
using tensor::Tensor;

// Operand [positions, coarse width], in `kept` where that is given; also fp32 where it is an
// output.
Tensor AlphaGenome::coarse_embedding(Pass& pass, const Tensor& x, const Tensor& kept) const {
  tensor::Context& context = pass.context();
  const Tensor embedding = kept.empty() ? pass.arena().take(context.compute_dtype(),
                                                            {x.shape[0], config_.coarse_width()})
                                        : kept;
  const auto scope = pass.arena().scope();
  const Tensor read = pass.arena().take(context.compute_dtype(), {x.shape[0], x.shape[1]});
  ops::map(context, ops::map_copy(x, read));
  ops::gemm(context, {read, &weights_.coarse_project, Activation::gelu_sigmoid, {}, embedding});
  const Tensor wanted = pass.find(info_.embeddings[1].output());
  if (!wanted.empty()) ops::map(context, ops::map_copy(embedding, wanted));
  return embedding;
}

// Operand [bases, fine width], in `kept` where that is given.
Tensor AlphaGenome::fine_embedding(Pass& pass, const UnetRows& rows, const Tensor& decoded,
                                   const Tensor& coarse, const Tensor& kept) const {
  tensor::Context& context = pass.context();
  tensor::Arena& arena = pass.arena();
  const std::int64_t width = config_.fine_width();
  const Tensor embedding =
      kept.empty() ? arena.take(context.compute_dtype(), {decoded.shape[0], width}) : kept;
  const auto scope = arena.scope();
  const Tensor skip = arena.take(DType::f32, {coarse.shape[0], width});
  const Tensor y = arena.take(DType::f32, {decoded.shape[0], width});
  ops::gemm(context, {coarse, &weights_.fine_skip, Activation::none, {}, skip});
  ops::gemm(context, {decoded, &weights_.fine_project, Activation::none, {}, y});
  ops::repeat_rows(context, {skip,
                             config_.coarse_bin(),
                             &rows.coarse(),
                             &rows.bases(),
                             y,
                             {},
                             {{}, {}, Activation::gelu_sigmoid, embedding}});
  const Tensor wanted = pass.find(info_.embeddings[0].output());
  if (!wanted.empty()) ops::map(context, ops::map_copy(embedding, wanted));
  return embedding;
}

// Takes the outputs of contact maps. The rows of their pairs that are wanted: i32, or empty.
Tensor AlphaGenome::upload_contacts(Pass& pass, std::int64_t n_windows,
                                    const Request& request) const {
  const std::int64_t n = info_.window / config_.pair_bin();
  Tensor wanted;
  for (std::size_t i = 0; i < heads_.size(); ++i) {
    if (heads_[i].name != kContactMaps) continue;
    const std::int64_t n_tracks = weights_.heads[i].linear.n_out;
    if (request.wants_tracks(i))
      pass.output(std::string("tracks.") + kContactMaps, {n_windows * n * n, n_tracks});
    if (!request.wants_rows(i)) continue;
    const std::int64_t n_bins = rows_capacity(request.rows[i], n_windows);
    std::vector<std::int32_t> rows;
    for (std::int64_t w = 0; w < n_windows; ++w) {
      const BinRows& bins = request.rows[i][static_cast<std::size_t>(w)];
      if (bins.begin < 0 || bins.end < bins.begin || bins.end > n)
        throw std::out_of_range("rows that are not of a window");
      for (std::int64_t k = 0; k < n_bins; ++k)
        for (std::int64_t other = 0; other < n; ++other)
          rows.push_back(static_cast<std::int32_t>((w * n + other) * n +
                                                   (k < bins.size() ? bins.begin + k : 0)));
    }
    wanted = pass.upload(rows);
    pass.output(std::string("rows.") + kContactMaps, {std::ssize(rows), n_tracks});
  }
  return wanted;
}

// The mean of both directions of each pair, normalised and activated: operand [pairs, channels], in
// `kept` where that is given; also fp32 where it is an output. pair: [windows, n, n, channels].
Tensor AlphaGenome::pair_embedding(Pass& pass, const Tensor& pair, const Tensor& kept) const {
  tensor::Context& context = pass.context();
  tensor::Arena& arena = pass.arena();
  const std::int64_t n_bins = pair.shape[1], channels = config_.pair_channels;
  const std::int64_t n = pair.shape[0] * n_bins * n_bins;
  const Tensor embedding = kept.empty() ? arena.take(context.compute_dtype(), {n, channels}) : kept;
  const auto scope = arena.scope();
  const Tensor mean = arena.take(DType::f32, {pair.shape[0], n_bins, n_bins, channels});
  ops::map(
      context,
      ops::make_map({pair, tensor::permuted(pair, {0, 2, 1, 3})},
                    {{MapCode::add, 1}, {MapCode::multiply, ops::Map::kNumber, 0, 0.5f}}, mean));
  const Tensor rows(mean.data, mean.dtype, {n, channels});
  ops::add_layer_norm(context, {rows, {}, weights_.pair_norm, {}, rows, {}, ops::NormKind::rms});
  ops::map(context, ops::map_function(MapCode::gelu_sigmoid, rows, embedding));
  const Tensor wanted = pass.find(info_.embeddings[2].output());
  if (!wanted.empty()) ops::map(context, ops::map_function(MapCode::gelu_sigmoid, rows, wanted));
  return embedding;
}

// pairs: their embedding. contacts: the rows of `rows`.
void AlphaGenome::contact_maps(Pass& pass, const Tensor& pairs, const Tensor& contacts) const {
  tensor::Context& context = pass.context();
  const auto scope = pass.arena().scope();
  Tensor out = pass.find(std::string("tracks.") + kContactMaps);
  for (std::size_t i = 0; i < heads_.size(); ++i) {
    if (heads_[i].name != kContactMaps || (out.empty() && contacts.empty())) continue;
    const tensor::Linear& linear = weights_.heads[i].linear;
    if (out.empty()) out = pass.arena().take(DType::f32, {pairs.shape[0], linear.n_out});
    ops::gemm(context, {pairs, &linear, Activation::none, {}, out});
    if (!contacts.empty())
      ops::gather_rows(context, {out, contacts, pass.find(std::string("rows.") + kContactMaps)});
  }
}

// The heads that a request wants of a window's embeddings.
void AlphaGenome::forward_heads(Pass& pass, const Embeddings& window,
                                const Request& request) const {
  const TrackEnd fine = end(true), coarse = end(false);
  for (const Tensor& kept : {window.fine, window.coarse, window.pairs})
    pass.depends_on(reinterpret_cast<std::uintptr_t>(kept.data));
  take_track_outputs(pass, fine, request, 1);
  take_track_outputs(pass, coarse, request, 1);
  upload_contacts(pass, 1, request);
  Tensor site_probabilities;
  if (has_junctions(request))
    site_probabilities =
        pass.output(alphagenome::kSiteProbabilities, {info_.window, alphagenome::kSpliceClasses});
  pass.run([&] {
    const auto scope = pass.arena().scope();
    contact_maps(pass, window.pairs, {});
    run_heads(pass, coarse, request, window.coarse, {});
    run_heads(pass, fine, request, window.fine, {});
    if (!site_probabilities.empty())
      weights_.junctions->sites.compute(pass, window.fine, site_probabilities);
  });
}

AlphaGenome::Embeddings AlphaGenome::kept_embeddings(std::size_t slot) const {
  const auto rows = [&](std::size_t array) {
    return embeddings_->arrays()[array].n_rows > 0 ? embeddings_->rows(array, slot) : Tensor();
  };
  return {rows(0), rows(1), rows(2)};
}

KeptStore::Slot AlphaGenome::run_embeddings(std::span<const std::uint8_t> letters) {
  KeptStore::Slot slot = embeddings_->take(1).front();
  Task task{letters};
  task.kept = kept_embeddings(*slot);
  Request request;
  request.tracks = false;
  run_pass([&](Pass& pass) { forward(pass, task, request); });
  return slot;
}

Outputs AlphaGenome::run_kept(const KeptStore::Slot& window, const HeadRange& heads) {
  Request request;
  request.heads = heads;
  const Embeddings kept = kept_embeddings(*window);
  Outputs outputs = run_pass([&](Pass& pass) { forward_heads(pass, kept, request); });
  if (has_junctions(request)) add_junctions(kept.fine, 1, outputs);
  return outputs;
}

}  // namespace biogpu::models
