// TensorNet2: charges of atoms, the weights of edges that depend on them, and their energy.
#include <utility>

#include "lib/models/tensornet/network.hpp"
#include "lib/models/tensornet/ops/charge_ops.hpp"
#include "lib/models/tensornet/ops/edge_ops.hpp"
#include "lib/models/tensornet/ops/node_ops.hpp"
#include "lib/ops/elementwise/fill_zero.hpp"
#include "lib/ops/elementwise/row_scale.hpp"
#include "lib/ops/gemm/gemm.hpp"
#include "lib/ops/message_passing/pair_add.hpp"
#include "lib/ops/message_passing/segment_sum.hpp"
#include "lib/ops/neighbours/neighbour_list_grad.hpp"
#include "lib/ops/normalisation/add_layer_norm.hpp"
#include "lib/ops/normalisation/layer_norm_grad.hpp"

namespace biogpu::models::tensornet {

using tensor::Tensor;

// Those that the embedding (0) or a layer gave, in the array of all.
Tensor Network::charges_of(const Tensor& all, std::size_t index) const {
  const auto first = static_cast<std::int64_t>(index) * config_.n_charges;
  return all.slice(1, first, first + config_.n_charges);
}

void Network::predict_charges(std::size_t index, const Tensor& x) {
  const std::int64_t n = batch_.n_atoms(), f = config_.width;
  const ChargeHead& head = weights_.charge_heads[index];
  if (index == 0)
    charges_ =
        take({n, static_cast<std::int64_t>(weights_.charge_heads.size()) * config_.n_charges});
  KeptCharges kept;
  kept.x = x;
  kept.features = take({n, 3 * f});
  charge_features(context_, {x, kept.features});
  const Tensor rows = take({n, 3 * f});
  ops::add_layer_norm(context_, {kept.features, {}, head.norm, {}, rows, {}});
  run_chain(head.maps, rows, {}, kept.chain);
  charge_balance(context_,
                 {kept.chain.out, batch_.total, batch_.atom_starts, charges_of(charges_, index)});
  kept_charges_.push_back(std::move(kept));
}

// Adds to what the tensors get back, out of d_charges_.
void Network::charges_back(std::size_t index, const Tensor& d_x) {
  const KeptCharges& kept = kept_charges_[index];
  const auto scope = arena_.scope();
  const Tensor d_raw = take({batch_.n_atoms(), 2 * config_.n_charges});
  charge_balance_grad(context_, {kept.chain.out, batch_.total, batch_.atom_starts,
                                 charges_of(d_charges_, index), d_raw});
  const Tensor d = chain_back(kept.chain, d_raw, {});
  ops::layer_norm_grad(context_, {kept.features, weights_.charge_heads[index].norm, d, d});
  charge_features_grad(context_, {kept.x, d, d_x});
}

void Network::mix_weights(std::size_t index, KeptLayer& kept) {
  const Layer& layer = weights_.layers[index];
  const std::int64_t f = config_.width, n_edges = batch_.edges.capacity();
  const auto lower = static_cast<float>(config_.cutoff_lower),
             upper = static_cast<float>(config_.cutoff_upper);
  if (index == 0) {
    cutoff_ = take({n_edges});
    radial_table(context_, {batch_.edges.distance, weights_.cutoff, lower, upper,
                            Tensor(cutoff_.data, cutoff_.dtype, {n_edges, 1})});
  }
  kept.before[0] = take({n_edges, f});
  radial_table(context_, {batch_.edges.distance, layer.radial, lower, upper, kept.before[0]});
  const Tensor charges = charges_of(charges_, index);
  ops::pair_add(context_, {kept.before[0], map_rows(layer.receiver_charges.forward, charges),
                           map_rows(layer.neighbour_charges.forward, charges), &batch_.edges,
                           kept.before[0]});
  for (int i = 0; i < 2; ++i)
    kept.before[i + 1] = map_rows(layer.radial_maps[i].forward, activate(kept.before[i]));
  kept.active = activate(kept.before[2]);
  ops::row_scale(context_, {kept.active, cutoff_,
                            Tensor(kept.weights.data, kept.weights.dtype, {n_edges, 3 * f})});
}

// To distances, and to the charges of both atoms. d_weights is overwritten.
void Network::mix_weights_back(std::size_t index, const Tensor& d_weights, const Tensor& previous,
                               const Tensor& d_distance) {
  const Layer& layer = weights_.layers[index];
  const KeptLayer& kept = layers_[index];
  const std::int64_t n = batch_.n_atoms(), f = config_.width, n_edges = batch_.edges.capacity();
  const auto lower = static_cast<float>(config_.cutoff_lower),
             upper = static_cast<float>(config_.cutoff_upper);
  const auto scope = arena_.scope();
  const Tensor d_cutoff = take({n_edges});
  ops::row_scale_grad(context_, {kept.active, cutoff_, d_weights, d_weights, d_cutoff});
  radial_table_grad(context_,
                    {batch_.edges.distance, weights_.cutoff, lower, upper,
                     Tensor(d_cutoff.data, d_cutoff.dtype, {n_edges, 1}), previous, d_distance});
  Tensor d = d_weights;
  for (int i = 2; i >= 0; --i) {
    activate_back(kept.before[i], d);
    if (i > 0) d = map_rows(layer.radial_maps[i - 1].back, d);
  }
  radial_table_grad(context_,
                    {batch_.edges.distance, layer.radial, lower, upper, d, d_distance, d_distance});
  const Tensor d_receiver = take({n, f}), d_neighbour = take({n, f});
  ops::segment_sum(context_, {d, batch_.edges.starts, {}, d_receiver});
  ops::segment_sum(context_, {d, batch_.edges.starts, batch_.edges.reverse, d_neighbour});
  const Tensor d_charges = charges_of(d_charges_, index);
  const auto add = [&](const Tensor& rows, const tensor::Linear& back) {
    ops::gemm(context_, {rows, &back, ops::Activation::none, d_charges, d_charges});
  };
  add(d_receiver, layer.receiver_charges.back);
  add(d_neighbour, layer.neighbour_charges.back);
}

void Network::add_coulomb(const Tensor& energies) {
  coulomb(context_,
          {charges_, weights_.coulomb_weights, &batch_.far, config_.coulomb_cutoff, energies});
}

// Makes d_charges_, to which layers add.
void Network::coulomb_back(const Gradients& gradients) {
  d_charges_ = take({charges_.shape[0], charges_.shape[1]});
  if (!config_.has_coulomb) return ops::fill_zero(context_, {d_charges_});
  const Tensor d_distance = take({batch_.far.capacity()});
  coulomb_grad(context_, {charges_, weights_.coulomb_weights, &batch_.far, config_.coulomb_cutoff,
                          d_charges_, d_distance});
  if (!gradients.far_positions.empty())
    ops::neighbour_list_grad(context_, {&batch_.far, d_distance, {}, gradients.far_positions});
  if (!gradients.far_virial.empty())
    edge_virial(context_, {&batch_.far, d_distance, {}, gradients.far_virial});
}

}  // namespace biogpu::models::tensornet
