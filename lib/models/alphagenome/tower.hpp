#pragma once

#include "lib/models/alphagenome/batch.hpp"

namespace biogpu::models::alphagenome {

// Which form of GELU the parts of pairs have: the official code's, or the PyTorch port's.
enum class PairGelu { tanh, erf };

// The transformer over coarse positions, with a track of pairs that every other block updates.
// x: f32 [windows * positions, width], the encoder's result with the organism's embedding; becomes
// the tower's result. pair: f32 [windows, n_pairs, n_pairs, pair channels], out.
void run_tower(Pass& pass, const Config& config, const Weights& weights, const Batch& batch,
               PairGelu gelu, const tensor::Tensor& x, const tensor::Tensor& pair);

}  // namespace biogpu::models::alphagenome
