#pragma once

#include <cstdint>
#include <vector>

#include "lib/models/tensornet/ops/radial_embed.hpp"
#include "lib/models/tensornet/weights/config.hpp"
#include "lib/models/tensornet/weights/weights.hpp"
#include "lib/ops/neighbours/edges.hpp"
#include "lib/tensor/arena.hpp"
#include "lib/tensor/context.hpp"

namespace biogpu::models::tensornet {

// A batch on the context.
struct Batch {
  ops::Edges edges;
  tensor::Tensor types;   // i32 [T]
  tensor::Tensor factor;  // [T]: 1 + 0.1 q; or empty: 1
  // TensorNet2: the charge of each atom's system, and the atoms of each system.
  tensor::Tensor total, atom_starts;  // [T], i32 [systems + 1]
  ops::Edges far;                     // of charges; without edges where there is no Coulomb energy
  std::int64_t n_atoms() const { return types.shape[0]; }
};

// What the way back gives, as far as memory is given: empty tensors are not wanted.
struct Gradients {
  tensor::Tensor ones;                       // [T, kEnergyColumns]: dE/d(energies), 1 and zeros
  tensor::Tensor positions;                  // [T, 3]: dE/dx
  tensor::Tensor virial;                     // [T, 9]: an atom's part of dE/d(strain)
  tensor::Tensor far_positions, far_virial;  // the same of the Coulomb energy's distances
};

// TensorNet's operations, and those of its gradients in reverse order. An object for one pass;
// tensors are of the arena and live as long as the caller's scope.
class Network {
 public:
  Network(const Config& config, const Weights& weights, tensor::Context& context,
          tensor::Arena& arena, const Batch& batch)
      : config_(config),
        weights_(weights),
        context_(context),
        arena_(arena),
        batch_(batch),
        message_edges_(batch.edges) {
    if (config.sums_own_features) message_edges_.neighbours = batch.edges.receivers;
  }

  // energies: [T, kEnergyColumns], the first without the standard deviation and mean, the others 0.
  void forward(const tensor::Tensor& energies);
  // After forward().
  void backward(const Gradients& gradients);

 private:
  using Tensor = tensor::Tensor;
  // A chain of maps with activations between, and what its gradient needs.
  struct Chain {
    const std::vector<Map>* maps = nullptr;
    std::vector<Tensor> inputs;  // of each activation
    Tensor out;
  };
  struct KeptLayer {
    Tensor x;        // before it is made small
    Tensor y, m, d;  // mapped, messages, mapped product
    Tensor weights;  // [capacity, 3, F]
    // TensorNet2: before the activations of radial maps, and the last ones' results.
    Tensor before[3], active;
  };
  struct KeptCharges {
    Tensor x, features, raw;
    Chain chain;
  };

  Tensor take(std::initializer_list<std::int64_t> shape);
  Tensor take_tensors() { return take({9, batch_.n_atoms(), config_.width}); }
  // y = (residual +) the maps of the three parts of x; back: their gradient.
  void map_parts(const Map* maps, bool back, const Tensor& x, const Tensor& residual,
                 const Tensor& y);
  Tensor map_rows(const tensor::Linear& linear, const Tensor& x);
  Tensor activate(const Tensor& x);
  // d_out becomes what the activation of x gets back.
  void activate_back(const Tensor& x, const Tensor& d_out);
  void run_chain(const std::vector<Map>& maps, const Tensor& x, const Tensor& out, Chain& chain);
  Tensor chain_back(const Chain& chain, const Tensor& d_out, const Tensor& residual);

  Tensor embed();
  Tensor interact(std::size_t index, const Tensor& x);
  void read_out(const Tensor& x, const Tensor& energies);
  // TensorNet2's (network_charges.cpp).
  Tensor charges_of(const Tensor& all, std::size_t index) const;
  void predict_charges(std::size_t index, const Tensor& x);
  void charges_back(std::size_t index, const Tensor& d_x);
  void mix_weights(std::size_t index, KeptLayer& kept);
  void mix_weights_back(std::size_t index, const Tensor& d_weights, const Tensor& previous,
                        const Tensor& d_distance);
  void add_coulomb(const Tensor& energies);
  void coulomb_back(const Gradients& gradients);

  Tensor read_out_back(const Tensor& ones);
  Tensor interact_back(std::size_t index, const Tensor& d_out, const Tensor& d_distance);
  void embed_back(const Tensor& d_out, const Tensor& d_distance, const Tensor& d_displacement);

  const Config& config_;
  const Weights& weights_;
  tensor::Context& context_;
  tensor::Arena& arena_;
  const Batch& batch_;
  // Where messages come from. An edge and its reverse have the same distance, so the same weights:
  // the gradient of sums over an atom's own features is right with the reverse of the batch.
  ops::Edges message_edges_;

  struct {
    RadialEmbed radial;    // whose result is the sums of directions
    Tensor norms;          // [T, F]
    Tensor before[2];      // the activations
    Tensor mapped, scale;  // [9, T, F], [T, 3, F]
  } embedding_;
  std::vector<KeptLayer> layers_;
  struct {
    Tensor x, norms, before;
    Chain head, gate;
  } readout_;
  Tensor cutoff_;               // c(d) of each edge
  Tensor charges_, d_charges_;  // [T, (layers + 1) C]
  std::vector<KeptCharges> kept_charges_;
};

}  // namespace biogpu::models::tensornet
