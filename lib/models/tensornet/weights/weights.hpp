#pragma once

#include <cstdint>
#include <vector>

#include "lib/models/tensornet/weights/config.hpp"
#include "lib/models/tensornet/weights/host_weights.hpp"
#include "lib/tensor/context.hpp"

namespace biogpu::models::tensornet {

// Numbers of an atom that the head's last map gives: its energy, and zeros, since a GPU multiplies
// rows of 8.
inline constexpr std::int64_t kEnergyColumns = 8;

// A map and the map of gradients back through it.
struct Map {
  tensor::Linear forward, back;
};

struct Layer {
  tensor::Tensor radial;  // table of all; TensorNet2: of the first map
  Map tensors[6];
  // TensorNet2: F from C, and the second and third radial maps.
  Map receiver_charges, neighbour_charges;
  Map radial_maps[2];
};

struct ChargeHead {
  tensor::Norm norm;
  std::vector<Map> maps;
};

// Weights in a context's memory: f32, or f64 on the reference context.
struct Weights {
  tensor::DType real = tensor::DType::f32;  // of all numbers of a pass
  tensor::Tensor radial;                    // table of the embedding
  tensor::Tensor receiver, neighbour;       // [n_types, F]
  tensor::Norm embedding_norm;
  Map embedding_scalars[2];
  Map embedding_tensors[3];
  std::vector<Layer> layers;
  tensor::Norm readout_norm;
  Map readout;
  std::vector<Map> head, gate;
  // TensorNet2.
  tensor::Tensor cutoff;  // table of c(d)
  std::vector<ChargeHead> charge_heads;
  tensor::Tensor coulomb_weights;  // [(layers + 1) C]
};

// f32, or f64 where a context computes in double precision.
tensor::DType real_type(const tensor::Context& context);

// Makes the tables and copies all to the context, which owns the memory.
Weights upload_weights(const Config& config, const HostWeights& host, tensor::Context& context);

}  // namespace biogpu::models::tensornet
