#include "lib/models/proteinmpnn/network/forward.hpp"

#include "lib/models/proteinmpnn/network/geometry.hpp"
#include "lib/models/proteinmpnn/ops/begin_scores.hpp"
#include "lib/models/proteinmpnn/ops/edge_embed.hpp"
#include "lib/models/proteinmpnn/ops/edge_update.hpp"
#include "lib/models/proteinmpnn/ops/nearest_rows.hpp"
#include "lib/ops/gemm/gemm.hpp"
#include "lib/ops/normalisation/log_softmax.hpp"

namespace biogpu::models::proteinmpnn {
namespace {

using tensor::DType;

// One row for all n.
Tensor repeated(const Tensor& vector, std::int64_t begin, std::int64_t end, std::int64_t n) {
  Tensor rows = vector.slice(0, begin, end);
  rows.rank = 2;
  rows.shape = {n, end - begin};
  rows.stride = {0, 1};
  return rows;
}

// What residues add as receivers and as senders: [R, 2 d].
struct NodeProj {
  Tensor receiver, sender;
  explicit NodeProj(const Tensor& node_proj)
      : receiver(node_proj.slice(1, 0, kHidden)),
        sender(node_proj.slice(1, kHidden, 2 * kHidden)) {}
  NodeProj(Tensor of_receiver, Tensor of_sender) : receiver(of_receiver), sender(of_sender) {}
};

void embed_edges(Pass& pass, const Info& info, const Weights& weights, const BatchInputs& in,
                 const Encoded& out) {
  nearest_rows(pass.context(),
               {in.points, 1, in.present, in.segments, out.rows, out.distances, out.counts});
  const auto pairs = point_pairs(info.ca_only);
  EdgeEmbed embed;
  embed.points = in.points;
  embed.frames = in.frames;
  embed.numbers = in.numbers;
  embed.chains = in.chains;
  embed.rows = out.rows;
  embed.distances = out.distances;
  embed.counts = out.counts;
  embed.pairs = pairs.data();
  embed.n_pairs = static_cast<int>(pairs.size());
  embed.features = &weights.features;
  embed.positions = weights.positions;
  embed.norm = weights.feature_norm;
  embed.normalised = out.features;
  embed.linear = &weights.edges;
  embed.out = out.edges;
  edge_embed(pass.context(), embed);
}

DecoderLayer decoder_layer(const Weights& weights, int l) {
  const DecoderWeights& layer = weights.decoder[l];
  return {&layer.message.middle, update_of(layer.message, layer.residue),
          l == 0 ? nullptr : &layer.message.node_proj, layer.letters};
}

}  // namespace

Encoded take_encoded(Pass& pass, const Batch& batch, std::int64_t n_neighbours, bool tapped) {
  tensor::Arena& arena = pass.arena();
  const std::int64_t n = batch.n_rows(), k = n_neighbours;
  Encoded out;
  out.rows = arena.take(DType::i32, {n, k});
  out.counts = arena.take(DType::i32, {n});
  out.distances = tapped ? pass.output(kDistances, {n, k}) : arena.take(DType::f32, {n, k});
  if (tapped) out.features = pass.output(kFeatures, {n, k, kHidden});
  out.h = tapped ? pass.output(kResidues, {n, kHidden}) : arena.take(DType::f32, {n, kHidden});
  out.edges =
      tapped ? pass.output(kEdges, {n, k, kHidden}) : arena.take(DType::f32, {n, k, kHidden});
  out.decoder_edges = arena.take(DType::f32, {n, k, kLayers * kHidden});
  out.node_proj = arena.take(DType::f32, {n + batch.n_states(), kNodeProj});
  return out;
}

void encode(Pass& pass, const Info& info, const Weights& weights, const BatchInputs& in,
            const Encoded& out) {
  embed_edges(pass, info, weights, in, out);
  tensor::Arena& arena = pass.arena();
  const auto scope = arena.scope();
  const std::int64_t n = out.h.shape[0];
  const Tensor edge_node_proj = arena.take(DType::f32, {n, 2 * kHidden});
  const Tensor next_node_proj[2] = {arena.take(DType::f32, {n, 2 * kHidden}),
                                    arena.take(DType::f32, {n, 2 * kHidden})};
  // Residues begin as 0, so that their ends are the bias.
  const Tensor& bias = weights.encoder[0].message.node_proj.bias;
  NodeProj node_proj(repeated(bias, 0, kHidden, n), repeated(bias, kHidden, 2 * kHidden, n));
  for (int l = 0; l < kLayers; ++l) {
    const EncoderWeights& layer = weights.encoder[l];
    const bool is_last = l + 1 == kLayers;
    const Tensor next = is_last ? out.node_proj.slice(0, 0, n) : next_node_proj[l % 2];
    EdgeMessage message;
    message.edges = out.edges;
    message.edge = &layer.message.edge;
    message.counts = out.counts;
    message.receiver = node_proj.receiver;
    message.sender = node_proj.sender;
    message.senders = out.rows;
    message.present = in.present;
    message.only_present = true;
    message.middle = &layer.message.middle;
    message.update = update_of(layer.message, layer.residue);
    if (l > 0) message.h = out.h;
    message.out = out.h;
    message.next[0] = {&layer.update.node_proj, {}, {}, edge_node_proj};
    message.next[1] = {
        is_last ? &weights.decoder_node_proj : &weights.encoder[l + 1].message.node_proj,
        {},
        {},
        next};
    edge_message(pass.context(), message);
    const NodeProj of_edges(edge_node_proj);
    edge_update(pass.context(),
                {out.edges, out.counts, of_edges.receiver, of_edges.sender, out.rows,
                 &layer.update.edge, &layer.update.middle, &layer.update.last, layer.edge_norm});
    node_proj = NodeProj(next);
  }
  const std::int64_t n_edges = n * out.edges.shape[1];
  ops::gemm(pass.context(), {{out.edges.data, DType::f32, {n_edges, kHidden}},
                             &weights.decoder_edges,
                             ops::Activation::none,
                             {},
                             {out.decoder_edges.data, DType::f32, {n_edges, kLayers * kHidden}}});
}

void decode_samples(Pass& pass, const Weights& weights, const Batch& batch, const BatchInputs& in,
                    const Encoded& encoded) {
  const std::int64_t n = batch.n_drawn();
  if (n == 0) return;
  tensor::Arena& arena = pass.arena();
  const auto scope = arena.scope();
  Decode op;
  op.rows = encoded.rows;
  op.counts = encoded.counts;
  op.present = in.present;
  op.h = encoded.h;
  op.edges = encoded.decoder_edges;
  op.node_proj = encoded.node_proj;
  for (int l = 0; l < kLayers; ++l) op.layer[l] = decoder_layer(weights, l);
  op.logits = &weights.logits;
  op.logit_weight = weights.logit_weight;
  op.logit_bias = weights.logit_bias;
  op.sequences = in.sequences;
  op.order = in.order;
  op.rank = in.rank;
  op.uniforms = in.uniforms;
  op.units = in.units;
  op.n_units = batch.n_units();
  op.rules = in.rules;
  op.flags = arena.take(DType::i32, {n + 1});
  op.letters = in.letters;
  op.drawn = pass.find(kDrawn);
  op.log_probabilities = pass.find(kLogProbabilities).slice(0, 0, n);
  op.probabilities = pass.find(kProbabilities);
  decode(pass.context(), op);
}

void score(Pass& pass, const Weights& weights, const Batch& batch, const BatchInputs& in,
           const Encoded& encoded) {
  const std::int64_t n_rows = batch.n_rows(), first = batch.n_drawn(), n = batch.n_scored();
  if (n == 0) return;
  tensor::Arena& arena = pass.arena();
  const auto scope = arena.scope();
  const Tensor senders = arena.take(DType::i32, {n, encoded.rows.shape[1]});
  const Tensor ids = arena.take(DType::i32, {n});
  const Tensor h = arena.take(DType::f32, {n, kHidden});
  begin_scores(pass.context(),
               {encoded.rows, encoded.h, encoded.node_proj, weights.decoder[0].letters,
                in.sequences, in.sequence_of, in.state_rows, first, in.rank, in.letters,
                in.letter_states, senders, ids, h});
  const auto columns = [](const Tensor& node_proj, int begin) {
    return node_proj.slice(1, begin * kHidden, (begin + 1) * kHidden);
  };
  const Tensor states = encoded.node_proj.slice(0, n_rows + first, n_rows + first + n);
  for (int l = 0; l < kLayers; ++l) {
    const DecoderLayer layer = decoder_layer(weights, l);
    EdgeMessage message;
    message.edges = encoded.decoder_edges.slice(2, l * kHidden, (l + 1) * kHidden);
    message.edge_rows = in.state_rows;
    message.counts = encoded.counts;
    message.receiver = columns(states, 2 * l);
    message.sender = columns(encoded.node_proj, 2 * l + 1);
    message.senders = senders;
    message.present = in.present;
    message.middle = layer.middle;
    message.update = layer.update;
    message.h = message.out = h;
    if (l + 1 < kLayers) {
      const DecoderLayer next = decoder_layer(weights, l + 1);
      message.next[0] = {next.node_proj, next.letters, ids,
                         states.slice(1, 2 * (l + 1) * kHidden, 2 * (l + 2) * kHidden)};
    }
    edge_message(pass.context(), message);
  }
  const Tensor out = pass.find(kLogProbabilities).slice(0, first, first + n);
  ops::gemm(pass.context(), {h, &weights.logits, ops::Activation::none, {}, out});
  ops::log_softmax(pass.context(), {out});
}

}  // namespace biogpu::models::proteinmpnn
