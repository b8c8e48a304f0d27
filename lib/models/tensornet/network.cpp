#include "lib/models/tensornet/network.hpp"

#include "lib/models/tensornet/ops/activate.hpp"
#include "lib/models/tensornet/ops/edge_ops.hpp"
#include "lib/models/tensornet/ops/node_ops.hpp"
#include "lib/models/tensornet/ops/radial_embed.hpp"
#include "lib/ops/cartesian_tensor/tensor_norm.hpp"
#include "lib/ops/cartesian_tensor/tensor_product.hpp"
#include "lib/ops/elementwise/sigmoid_gate.hpp"
#include "lib/ops/elementwise/silu.hpp"
#include "lib/ops/gemm/gemm.hpp"
#include "lib/ops/message_passing/message_sum.hpp"
#include "lib/ops/normalisation/add_layer_norm.hpp"

namespace biogpu::models::tensornet {
namespace {

using tensor::Tensor;

// An array of the same numbers in other rows.
Tensor as_rows(const Tensor& x, std::int64_t width) {
  return Tensor(x.data, x.dtype, {x.size() / width, width});
}
Tensor as_parts(const Tensor& x, std::int64_t width) {
  return Tensor(x.data, x.dtype, {x.size() / (3 * width), 3, width});
}

}  // namespace

Tensor Network::take(std::initializer_list<std::int64_t> shape) {
  return arena_.take(weights_.real, shape);
}

void Network::map_parts(const Map* maps, bool back, const Tensor& x, const Tensor& residual,
                        const Tensor& y) {
  constexpr std::int64_t kBegin[4] = {0, 1, 4, 9};
  const auto rows = [&](const Tensor& tensor, int p) {
    if (tensor.empty()) return tensor;
    return as_rows(tensor.slice(0, kBegin[p], kBegin[p + 1]), config_.width);
  };
  for (int p = 0; p < 3; ++p)
    ops::gemm(context_, {rows(x, p), back ? &maps[p].back : &maps[p].forward, ops::Activation::none,
                         rows(residual, p), rows(y, p)});
}

Tensor Network::map_rows(const tensor::Linear& linear, const Tensor& x) {
  const Tensor out = take({x.shape[0], linear.n_out});
  ops::gemm(context_, {x, &linear, ops::Activation::none, {}, out});
  return out;
}

Tensor Network::activate(const Tensor& x) {
  const Tensor out = take({x.shape[0], x.shape[1]});
  if (config_.unit == Unit::silu)
    ops::silu(context_, {x, out});
  else
    tensornet::activate(context_, {x, config_.unit, out});
  return out;
}

void Network::run_chain(const std::vector<Map>& maps, const Tensor& x, const Tensor& out,
                        Chain& chain) {
  chain.maps = &maps;
  Tensor rows = x;
  for (std::size_t i = 0; i < maps.size(); ++i) {
    if (i + 1 == maps.size()) {
      chain.out = out.empty() ? take({rows.shape[0], maps[i].forward.n_out}) : out;
      ops::gemm(context_, {rows, &maps[i].forward, ops::Activation::none, {}, chain.out});
    } else {
      chain.inputs.push_back(map_rows(maps[i].forward, rows));
      rows = activate(chain.inputs.back());
    }
  }
}

Tensor Network::embed() {
  const std::int64_t f = config_.width, n = batch_.n_atoms();
  embedding_.radial = {&batch_.edges,
                       weights_.radial,
                       static_cast<float>(config_.cutoff_lower),
                       static_cast<float>(config_.cutoff_upper),
                       weights_.receiver,
                       weights_.neighbour,
                       batch_.types,
                       take_tensors()};
  radial_embed(context_, embedding_.radial);
  embedding_.norms = take({n, f});
  ops::tensor_norm(context_, {embedding_.radial.out,
                              Tensor(embedding_.norms.data, embedding_.norms.dtype, {n, 1, f})});
  Tensor rows = take({n, f});
  ops::add_layer_norm(context_, {embedding_.norms, {}, weights_.embedding_norm, {}, rows, {}});
  for (int i = 0; i < 2; ++i) {
    embedding_.before[i] = map_rows(weights_.embedding_scalars[i].forward, rows);
    rows = activate(embedding_.before[i]);
  }
  embedding_.scale = as_parts(rows, f);
  embedding_.mapped = take_tensors();
  map_parts(weights_.embedding_tensors, false, embedding_.radial.out, {}, embedding_.mapped);
  const Tensor out = take_tensors();
  part_scale(context_, {embedding_.mapped, embedding_.scale, out});
  return out;
}

Tensor Network::interact(std::size_t index, const Tensor& x) {
  const Layer& layer = weights_.layers[index];
  const std::int64_t f = config_.width;
  KeptLayer kept;
  kept.x = x;
  kept.weights = take({batch_.edges.capacity(), 3, f});
  if (config_.n_charges > 0)
    mix_weights(index, kept);
  else
    radial_table(context_,
                 {batch_.edges.distance, layer.radial, static_cast<float>(config_.cutoff_lower),
                  static_cast<float>(config_.cutoff_upper), as_rows(kept.weights, 3 * f)});
  kept.y = take_tensors();
  kept.m = take_tensors();
  kept.d = take_tensors();
  const Tensor out = take_tensors();
  const auto scope = arena_.scope();
  const Tensor small = take_tensors(), product = take_tensors();
  tensor_shrink(context_, {x, small});
  map_parts(layer.tensors, false, small, {}, kept.y);
  ops::message_sum(context_, {kept.y, kept.weights, &message_edges_, kept.m});
  const Tensor factor = config_.one_sided ? Tensor() : batch_.factor;
  ops::tensor_product(context_, {kept.y, kept.m, factor, config_.one_sided, product});
  map_parts(layer.tensors + 3, false, product, {}, kept.d);
  tensor_update(context_, {small, kept.d, batch_.factor, out});
  layers_.push_back(std::move(kept));
  return out;
}

void Network::read_out(const Tensor& x, const Tensor& energies) {
  const std::int64_t f = config_.width, n = batch_.n_atoms();
  readout_.x = x;
  readout_.norms = take({n, 3 * f});
  ops::tensor_norm(context_, {x, as_parts(readout_.norms, f)});
  const Tensor rows = take({n, 3 * f});
  ops::add_layer_norm(context_, {readout_.norms, {}, weights_.readout_norm, {}, rows, {}});
  readout_.before = map_rows(weights_.readout.forward, rows);
  const Tensor features = config_.has_head_activation ? activate(readout_.before) : readout_.before;
  if (!config_.gated) return run_chain(weights_.head, features, energies, readout_.head);
  run_chain(weights_.head, features, {}, readout_.head);
  run_chain(weights_.gate, features, {}, readout_.gate);
  ops::sigmoid_gate(context_, {readout_.head.out, readout_.gate.out, energies});
}

void Network::forward(const Tensor& energies) {
  Tensor x = embed();
  if (config_.n_charges > 0) predict_charges(0, x);
  for (std::size_t i = 0; i < weights_.layers.size(); ++i) {
    x = interact(i, x);
    if (config_.n_charges > 0) predict_charges(i + 1, x);
  }
  read_out(x, energies);
  if (config_.has_coulomb) add_coulomb(energies);
}

}  // namespace biogpu::models::tensornet
