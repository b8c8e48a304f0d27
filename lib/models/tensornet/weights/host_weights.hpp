#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lib/models/tensornet/weights/config.hpp"
#include "lib/tensor/weights/weight_table.hpp"

namespace biogpu::models::tensornet {

// Weights on the host in double precision, in one layout for all dialects: the last scalar maps
// have row p F + f for part p and channel f.
struct HostLinear {
  std::int64_t n_out = 0, n_in = 0;
  std::vector<double> weight;  // [n_out, n_in]
  std::vector<double> bias;    // [n_out], or empty
};

struct HostNorm {
  std::vector<double> weight, bias;
};

struct HostLayer {
  HostLinear radial[3];   // R to F to 2 F to 3 F
  HostLinear tensors[6];  // before the product, and behind it: I, A, S
  // TensorNet2: what the charges of both atoms add to the first radial map, F from C.
  HostLinear receiver_charges, neighbour_charges;
};

// Charges out of tensors: 3 F to F to F to 2 C.
struct HostChargeHead {
  HostNorm norm;
  std::vector<HostLinear> maps;
};

// TensorNet2's repulsion of nuclei: by atomic number, and by two of them; both are symmetric.
struct HostRepulsion {
  std::vector<double> powers;             // [n]
  std::vector<double> products, cutoffs;  // [n, n]; cutoffs in Angstrom
};

// The prior D2's, by atomic number: the first is of no element.
struct HostDispersion {
  std::vector<double> c6;     // J/mol nm^6
  std::vector<double> radii;  // nm
};

struct HostWeights {
  std::vector<double> centres;    // of radial functions, or empty
  std::vector<double> steepness;  // of exponents: betas, or of Gaussians
  HostLinear distances;           // R to 3 F
  // Rows of emb2's products by type, the bias in the first.
  std::vector<double> receiver, neighbour;  // [n_types, F]
  HostNorm embedding_norm;
  HostLinear embedding_scalars[2];  // F to 2 F to 3 F
  HostLinear embedding_tensors[3];
  std::vector<HostLayer> layers;
  HostNorm readout_norm;
  HostLinear readout;            // 3 F to F
  std::vector<HostLinear> head;  // with activations between
  std::vector<HostLinear> gate;  // the same, then a sigmoid; or empty
  double mean = 0, std = 1;
  std::vector<double> references;  // by type, of the first types perhaps; empty: none
  // TensorNet2: of the embedding and of each layer; energies of products of each kind of charge.
  std::vector<HostChargeHead> charge_heads;
  std::vector<double> coulomb_weights;
  double coulomb_sum = 0;  // of the weights in the file
  HostRepulsion repulsion;
  std::map<std::size_t, HostDispersion> dispersions;  // by the number of their prior
};

// Takes all of them; what is wrong is told by table.finish(). atom_references: whether energies of
// free atoms are added, of torchmd-net; otherwise as the priors say.
HostWeights read_weights(const Config& config, std::optional<bool> atom_references,
                         tensor::WeightTable& table);

// Sets whose layers matgl's weights are for, DGL's or PyG's, after read_weights() and before
// table.finish(). Layers for DGL sum over edges what an atom itself has, those for PyG what its
// neighbours have, so that weights of the one give wrong energies in the other. Only the first have
// emb3, which nothing reads. Throws Error{bad_input} that names the file where the backend of the
// configuration is not that of the weights, or layers for DGL are of a version not known.
void set_backend(Config& config, tensor::WeightTable& table, const std::string& file);

// Leaves out the elements that energies of free atoms are added for and that have none: the tables
// of data sets may be shorter than the model's. Throws Error{bad_input} where none is left.
void limit_elements(Config& config, const HostWeights& weights, const std::string& file);

// Throws Error{bad_input} that names the file and a tensor whose numbers the pairs' energies cannot
// be computed from. After table.finish(): all numbers are there and finite.
void check_weights(const HostWeights& weights, const std::string& file);

}  // namespace biogpu::models::tensornet
