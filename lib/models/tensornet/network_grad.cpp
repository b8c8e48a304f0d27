#include <utility>

#include "lib/models/tensornet/network.hpp"
#include "lib/models/tensornet/ops/activate.hpp"
#include "lib/models/tensornet/ops/edge_ops.hpp"
#include "lib/models/tensornet/ops/node_ops.hpp"
#include "lib/ops/cartesian_tensor/tensor_norm_grad.hpp"
#include "lib/ops/cartesian_tensor/tensor_product_grad.hpp"
#include "lib/ops/elementwise/sigmoid_gate.hpp"
#include "lib/ops/elementwise/silu_grad.hpp"
#include "lib/ops/gemm/gemm.hpp"
#include "lib/ops/message_passing/message_sum_grad.hpp"
#include "lib/ops/neighbours/neighbour_list_grad.hpp"
#include "lib/ops/normalisation/layer_norm_grad.hpp"

namespace biogpu::models::tensornet {
namespace {

using tensor::Tensor;

Tensor rows_of(const Tensor& x, std::int64_t width) {
  return Tensor(x.data, x.dtype, {x.size() / width, width});
}
Tensor parts_of(const Tensor& x, std::int64_t n_parts) {
  return Tensor(x.data, x.dtype, {x.shape[0], n_parts, x.size() / (x.shape[0] * n_parts)});
}

}  // namespace

void Network::activate_back(const Tensor& x, const Tensor& d_out) {
  if (config_.unit == Unit::silu)
    ops::silu_grad(context_, {x, d_out, d_out});
  else
    activate_grad(context_, {x, config_.unit, d_out, d_out});
}

// What the chain's input gets back, added to the residual where there is one.
Tensor Network::chain_back(const Chain& chain, const Tensor& d_out, const Tensor& residual) {
  Tensor d = d_out;
  for (std::size_t i = chain.maps->size(); i-- > 0;) {
    const tensor::Linear& back = (*chain.maps)[i].back;
    const Tensor d_in = take({d.shape[0], back.n_out});
    ops::gemm(context_, {d, &back, ops::Activation::none, i == 0 ? residual : Tensor(), d_in});
    if (i > 0) activate_back(chain.inputs[i - 1], d_in);
    d = d_in;
  }
  return d;
}

Tensor Network::read_out_back(const Tensor& ones) {
  const std::int64_t n = batch_.n_atoms(), f = config_.width;
  const Tensor out = take_tensors();
  const auto scope = arena_.scope();
  Tensor d;
  if (config_.gated) {
    const Tensor d_head = take({n, kEnergyColumns}), d_gate = take({n, kEnergyColumns});
    ops::sigmoid_gate_grad(context_, {readout_.head.out, readout_.gate.out, ones, d_head, d_gate});
    d = chain_back(readout_.gate, d_gate, chain_back(readout_.head, d_head, {}));
  } else {
    d = chain_back(readout_.head, ones, {});
  }
  if (config_.has_head_activation) activate_back(readout_.before, d);
  const Tensor d_norms = take({n, 3 * f});
  ops::gemm(context_, {d, &weights_.readout.back, ops::Activation::none, {}, d_norms});
  ops::layer_norm_grad(context_, {readout_.norms, weights_.readout_norm, d_norms, d_norms});
  ops::tensor_norm_grad(context_, {readout_.x, parts_of(d_norms, 3), out});
  return out;
}

Tensor Network::interact_back(std::size_t index, const Tensor& d_out, const Tensor& d_distance) {
  const Layer& layer = weights_.layers[index];
  const KeptLayer& kept = layers_[index];
  const Tensor factor = config_.one_sided ? Tensor() : batch_.factor;
  const auto scope = arena_.scope();
  const Tensor d_d = take_tensors(), d_product = take_tensors(), d_y = take_tensors(),
               d_m = take_tensors();
  tensor_update_grad(context_, {kept.d, batch_.factor, d_out, d_d});
  map_parts(layer.tensors + 3, true, d_d, {}, d_product);
  ops::tensor_product_grad(context_,
                           {kept.y, kept.m, factor, config_.one_sided, d_product, d_y, d_m});
  const Tensor d_weights = take({batch_.edges.capacity(), 3, config_.width});
  const Tensor& d_y_of_messages = d_product;
  ops::message_sum_grad(context_,
                        {kept.y, kept.weights, &message_edges_, d_m, d_weights, d_y_of_messages});
  const Tensor previous = index + 1 == layers_.size() ? Tensor() : d_distance;
  if (config_.n_charges > 0)
    mix_weights_back(index, rows_of(d_weights, 3 * config_.width), previous, d_distance);
  else
    radial_table_grad(
        context_, {batch_.edges.distance, layer.radial, static_cast<float>(config_.cutoff_lower),
                   static_cast<float>(config_.cutoff_upper), rows_of(d_weights, 3 * config_.width),
                   previous, d_distance});
  // The residual of the layer begins at the small tensors, which the maps read too.
  map_parts(layer.tensors, true, d_y, d_out, d_out);
  map_parts(layer.tensors, true, d_y_of_messages, d_out, d_out);
  tensor_shrink_grad(context_, {kept.x, d_out, d_out});
  return d_out;
}

void Network::embed_back(const Tensor& d_out, const Tensor& d_distance,
                         const Tensor& d_displacement) {
  const std::int64_t f = config_.width, n = batch_.n_atoms();
  const Tensor d_scale = take({n, 3, f});
  part_scale_grad(context_, {embedding_.mapped, embedding_.scale, d_out, d_scale, d_out});
  Tensor d = rows_of(d_scale, 3 * f);
  for (int i = 2; i-- > 0;) {
    activate_back(embedding_.before[i], d);
    const tensor::Linear& back = weights_.embedding_scalars[i].back;
    const Tensor d_in = take({n, back.n_out});
    ops::gemm(context_, {d, &back, ops::Activation::none, {}, d_in});
    d = d_in;
  }
  ops::layer_norm_grad(context_, {embedding_.norms, weights_.embedding_norm, d, d});
  const Tensor d_u = take_tensors();
  ops::tensor_norm_grad(context_, {embedding_.radial.out, parts_of(d, 1), d_u});
  map_parts(weights_.embedding_tensors, true, d_out, d_u, d_u);
  radial_embed_grad(context_, {embedding_.radial, d_u, layers_.empty() ? Tensor() : d_distance,
                               d_distance, d_displacement});
}

void Network::backward(const Gradients& gradients) {
  const std::int64_t n_edges = batch_.edges.capacity();
  const auto scope = arena_.scope();
  const Tensor d_distance = take({n_edges}), d_displacement = take({n_edges, 3});
  Tensor d = read_out_back(gradients.ones);
  if (config_.n_charges > 0) {
    coulomb_back(gradients);
    charges_back(layers_.size(), d);
  }
  for (std::size_t i = layers_.size(); i-- > 0;) {
    d = interact_back(i, d, d_distance);
    if (config_.n_charges > 0) charges_back(i, d);
  }
  embed_back(d, d_distance, d_displacement);
  if (!gradients.positions.empty())
    ops::neighbour_list_grad(context_,
                             {&batch_.edges, d_distance, d_displacement, gradients.positions});
  if (!gradients.virial.empty())
    edge_virial(context_, {&batch_.edges, d_distance, d_displacement, gradients.virial});
}

}  // namespace biogpu::models::tensornet
