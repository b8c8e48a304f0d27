#pragma once

#include <vector>

#include "lib/models/alphagenome/batch.hpp"
#include "lib/tensor/arena.hpp"

namespace biogpu::models::alphagenome {

// What the decoder reads of each level of the encoder, operand [rows of the level, channels].
using Skips = std::vector<tensor::Arena::Lease>;

// Letters to coarse positions. trunk: f32 [windows * positions, width], out. skips: filled from
// level 0 on; null where nothing is decoded.
void encode(Pass& pass, const Config& config, const Weights& weights, const UnetRows& windows,
            const tensor::Tensor& trunk, Skips* skips);

// Coarse positions back to bases, with the encoder's levels, which are given back as they are read.
// x: f32 [windows * positions, width]. decoded: operand [windows * bases, channels of level 0],
// out.
void decode(Pass& pass, const Config& config, const Weights& weights, const UnetRows& windows,
            const tensor::Tensor& x, Skips& skips, const tensor::Tensor& decoded);

}  // namespace biogpu::models::alphagenome
