#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lib/models/base/model_config.hpp"
#include "lib/models/base/potential_model.hpp"
#include "lib/models/tensornet/ops/activate.hpp"
#include "lib/models/tensornet/weights/priors.hpp"
#include "lib/structure/elements.hpp"

namespace biogpu::models::tensornet {

// What config.json says of a TensorNet, by torchmd-net's names of hyperparameters or by matgl's.
struct Config {
  enum class Dialect { torchmdnet, matgl };
  enum class Radial { exponential, gaussian, bessel };
  enum class Backend { unknown, pyg, dgl };

  Dialect dialect = Dialect::torchmdnet;
  std::int64_t width = 0;     // F channels
  std::int64_t n_layers = 0;  //
  std::int64_t n_radial = 0;  // R radial functions
  Radial radial = Radial::exponential;
  double gaussian_width = 0;  // matgl's Gaussians: of the exponent
  double cutoff_lower = 0, cutoff_upper = 0;
  bool one_sided = false;         // SO(3)
  bool rows_by_channel = false;   // the last scalar maps have row 3 f + p, not p F + f
  bool neighbour_first = false;   // emb2 reads the neighbour's embedding, then the receiver's
  bool opposite_vectors = false;  // embeds with r_j - r_i
  // matgl only: the backend of the layers; unknown: decided from the weights (set_backend()).
  Backend backend = Backend::unknown;
  // matgl's DGL layers: an interaction sums the atom's own features over its edges.
  bool sums_own_features = false;
  bool self_edges = false;
  bool has_head_activation = false;  // after the readout's first map
  Unit unit = Unit::silu;            // of all activations
  std::int64_t n_head_layers = 0;    // hidden maps of the readout's head but the first
  bool takes_mean = false;           // of the atoms' energies: reduce_op, otherwise their sum
  bool gated = false;                // the head is matgl's gated one
  bool uses_charge = false;          // kappa = 1 + 0.1 q

  // TensorNet2: charges of atoms, which weights of edges depend on.
  std::int64_t n_charges = 0;  // kinds of charge of an atom; 0: TensorNet
  bool has_coulomb = false;    // energies of charges are added
  double coulomb_cutoff = 0;   // 0: all pairs, without a box
  bool has_repulsion = false;  // of nuclei

  std::int64_t n_types = 0;
  std::array<std::int32_t, structure::kMaxAtomicNumber + 1> type_of{};  // -1: not known
  double mean = 0, std = 1;        // of matgl; torchmd-net's are tensors
  std::vector<double> references;  // of matgl, by type
  std::vector<Prior> priors;       // of torchmd-net, in order
  std::optional<Box> box;          // of the network's edges in systems that have none: box_vecs

  std::string energy_unit;
  double ev_per_energy = 1;

  std::vector<std::int32_t> elements() const;
  bool has_prior(Prior::Kind kind) const;
};

// Throws Error{bad_input} that names the file and the key.
Config read_config(const ModelConfig& config);

}  // namespace biogpu::models::tensornet
