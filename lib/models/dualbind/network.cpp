#include "lib/models/dualbind/network.hpp"

#include <cmath>

#include "lib/models/dualbind/ops/bond_messages.hpp"
#include "lib/models/dualbind/ops/covariance.hpp"
#include "lib/models/dualbind/ops/frame_mean.hpp"
#include "lib/models/dualbind/ops/frame_tokens.hpp"
#include "lib/models/dualbind/ops/pair_energy.hpp"
#include "lib/models/layers/encoder_layer.hpp"
#include "lib/ops/attention/attention.hpp"
#include "lib/ops/attention/qkv_rotary.hpp"
#include "lib/ops/cartesian_tensor/eigen3.hpp"
#include "lib/ops/elementwise/map.hpp"
#include "lib/ops/gather/gather_rows.hpp"
#include "lib/ops/gemm/gemm.hpp"
#include "lib/ops/normalisation/add_layer_norm.hpp"

namespace biogpu::models::dualbind {
namespace {

using ops::Activation;
using tensor::Arena;
using tensor::DType;

// One checkpoint over one batch.
class Network {
 public:
  Network(Pass& pass, const Config& config, const Weights& weights, const DeviceBatch& batch)
      : context_(pass.context()),
        arena_(pass.arena()),
        config_(config),
        weights_(weights),
        batch_(batch),
        operand_(context_.compute_dtype()) {}

  void messages(const Tensor& features, const Tensor& shown) const;
  void block(const Tensor& x) const;
  void energy(const Tensor& h, const Tensor& energies) const;

 private:
  void bond_messages(const Tensor& m) const;

  tensor::Context& context_;
  Arena& arena_;
  const Config& config_;
  const Weights& weights_;
  const DeviceBatch& batch_;
  const DType operand_;
};

// Fills m, f32 [B, d], with what bonds carry after all steps, before its activation.
void Network::bond_messages(const Tensor& m) const {
  const std::int64_t n = batch_.n_bonds, d = config_.width;
  const auto scope = arena_.scope();
  const Tensor start = arena_.take(DType::f32, {n, d});
  {
    const auto inner = arena_.scope();
    const Tensor of_atoms = arena_.take(DType::f32, {batch_.n_atoms, d});
    const Tensor atoms = arena_.take(operand_, {batch_.n_atoms, batch_.atoms.shape[1]});
    const Tensor bonds = arena_.take(operand_, {n, batch_.bonds.shape[1]});
    ops::gather_rows(context_, {batch_.atoms, {}, atoms});
    ops::gather_rows(context_, {batch_.bonds, {}, bonds});
    ops::gemm(context_, {atoms, &weights_.atom_in, Activation::none, {}, of_atoms});
    ops::gather_rows(context_, {of_atoms, batch_.bond_atoms, start});
    ops::gemm(context_, {bonds, &weights_.bond_in, Activation::none, start, start});
  }
  const Tensor sums = arena_.take(operand_, {n, d});
  Tensor last = start;
  for (std::int64_t step = 1; step < config_.n_message_steps; ++step) {
    dualbind::bond_messages(context_, {last, batch_.in_starts, batch_.in_bonds, batch_.bond_atoms,
                                       batch_.reverse, sums});
    ops::gemm(context_, {sums, &weights_.message, Activation::none, start, m});
    last = m;
  }
  if (config_.n_message_steps == 1) ops::gather_rows(context_, {start, {}, m});
}

// features: f32 [A, d], of ligands' atoms as tokens. shown: f32 [A, d], of the atoms, or empty.
void Network::messages(const Tensor& features, const Tensor& shown) const {
  const std::int64_t n = batch_.n_atoms, d = config_.width, n_features = batch_.atoms.shape[1];
  const auto scope = arena_.scope();
  const Tensor m = arena_.take(DType::f32, {batch_.n_bonds, d});
  bond_messages(m);
  const Tensor both = arena_.take(operand_, {n, n_features + d});
  const Tensor hidden = arena_.take(operand_, {n, d});
  ops::map(context_, ops::map_copy(batch_.atoms, both.slice(1, 0, n_features)));
  dualbind::bond_messages(
      context_,
      {m, batch_.in_starts, batch_.in_bonds, {}, {}, both.slice(1, n_features, n_features + d)});
  ops::gemm(context_, {both, &weights_.atom_out, Activation::relu, {}, hidden});
  if (!shown.empty()) ops::gather_rows(context_, {hidden, {}, shown});
  ops::gemm(context_, {hidden, &weights_.ligand, Activation::none, {}, features});
}

// One layer of a transformer, up to its last normalisation.
void Network::block(const Tensor& x) const {
  const std::int64_t n = x.shape[0], d = config_.width;
  {
    const auto scope = arena_.scope();
    const Tensor qkv = arena_.take(operand_, {n, 3 * d});
    const Tensor mixed = arena_.take(operand_, {n, d});
    ops::qkv_rotary(context_, {x, &weights_.qkv, config_.n_heads, {}, {}, qkv});
    const auto [q, k, v] = split_qkv(qkv, config_.n_heads);
    const double head = static_cast<double>(d / config_.n_heads);
    const auto scale = static_cast<float>(1 / std::sqrt(head));
    ops::attention(context_, {q, k, v, scale, {}, &batch_.frames, mixed, {}});
    ops::gemm(context_, {mixed, &weights_.attention_out, Activation::none, x, x});
  }
  ops::add_layer_norm(context_, {x, {}, weights_.attention_norm, {}, {}, x});
  const auto scope = arena_.scope();
  const Tensor wide = arena_.take(operand_, {n, config_.d_ffn});
  ops::gemm(context_, {x, &weights_.ffn_up, Activation::relu, {}, wide});
  ops::gemm(context_, {wide, &weights_.ffn_down, Activation::none, x, x});
}

void Network::energy(const Tensor& h, const Tensor& energies) const {
  const std::int64_t n = batch_.n_tokens, n_ligand = batch_.n_ligand_tokens, d = config_.width;
  const auto scope = arena_.scope();
  const Tensor hidden = arena_.take(operand_, {n_ligand, d});
  const Tensor ligand = arena_.take(DType::f32, {n_ligand, d});
  const Tensor pocket = arena_.take(DType::f32, {n - n_ligand, d});
  const Tensor of_ligand = h.slice(0, 0, n_ligand);
  ops::gemm(context_, {of_ligand, &weights_.ligand_head[0], Activation::none, {}, hidden});
  ops::map(context_, ops::map_function(ops::MapCode::silu, hidden, hidden));
  ops::gemm(context_, {hidden, &weights_.ligand_head[1], Activation::none, {}, ligand});
  ops::gemm(context_,
            {h.slice(0, n_ligand, n), &weights_.pocket_head, Activation::none, {}, pocket});
  ops::map(context_, ops::map_function(ops::MapCode::silu, pocket, pocket));
  pair_energy(context_, {ligand, pocket, batch_.positions, batch_.starts, batch_.ligand_starts,
                         config_.cutoff, energies});
}

}  // namespace

void find_axes(Pass& pass, const DeviceBatch& batch, const Axes& axes, const Tensor& values) {
  const auto scope = pass.arena().scope();
  const Tensor squares = pass.arena().take(DType::f32, {batch.n_complexes, 3, 3});
  covariance(pass.context(), {batch.positions, batch.starts, axes.centre, squares});
  ops::eigen3(pass.context(), {squares, values, axes.vectors});
}

void run_network(Pass& pass, const Config& config, const Weights& weights, const DeviceBatch& batch,
                 const Axes& axes, const NetworkOutputs& outputs) {
  tensor::Context& context = pass.context();
  Arena& arena = pass.arena();
  const Network network(pass, config, weights, batch);
  const auto scope = arena.scope();
  const Tensor h = arena.take(context.compute_dtype(), {batch.n_tokens, config.width});
  {
    const auto inner = arena.scope();
    const Tensor x = arena.take(context.compute_dtype(), {kFrames * batch.n_tokens, config.width});
    {
      const auto of_features = arena.scope();
      const Tensor features = arena.take(DType::f32, {batch.n_atoms, config.width});
      network.messages(features, outputs.atoms);
      frame_tokens(context,
                   {features, weights.pocket, batch.sources, batch.positions, batch.complexes,
                    batch.starts, axes.centre, axes.vectors, weights.frame, x});
    }
    network.block(x);
    frame_mean(context,
               {x, weights.ffn_norm, batch.complexes, batch.starts, batch.ligand_starts, h});
  }
  if (!outputs.tokens.empty()) ops::gather_rows(context, {h, {}, outputs.tokens});
  network.energy(h, outputs.energies);
}

}  // namespace biogpu::models::dualbind
