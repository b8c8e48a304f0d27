#pragma once

#include "lib/models/dualbind/batch.hpp"
#include "lib/models/dualbind/config.hpp"
#include "lib/models/dualbind/weights.hpp"

namespace biogpu::models::dualbind {

// Centres and axes of all complexes, which no weight has a part in.
struct Axes {
  tensor::Tensor centre;   // f32 [C, 3]
  tensor::Tensor vectors;  // f32 [C, 3, 3], in columns
};
// values: f32 [C, 3], out.
void find_axes(Pass& pass, const DeviceBatch& batch, const Axes& axes,
               const tensor::Tensor& values);

// What a forward pass gives. Those but the energies are empty where they are not wanted.
struct NetworkOutputs {
  tensor::Tensor energies;  // f64 [C]
  tensor::Tensor atoms;     // f32 [A, d]: ligands' atoms after all messages
  tensor::Tensor tokens;  // f32 [T, d]: means over frames, those of ligands before those of pockets
};

// One checkpoint's forward pass.
void run_network(Pass& pass, const Config& config, const Weights& weights, const DeviceBatch& batch,
                 const Axes& axes, const NetworkOutputs& outputs);

}  // namespace biogpu::models::dualbind
