#pragma once

#include "lib/ops/declare.hpp"
#include "lib/ops/neighbours/edges.hpp"

namespace biogpu::ops {

// The gradient of tensor_embed by the weights and by the displacements of edges, these summed over
// the channels.
struct TensorEmbedGrad {
  Tensor weights;  // f32 [capacity, 3, F], contiguous, as are all
  const Edges* edges = nullptr;
  Tensor d_out;           // f32 [9, T, F]
  Tensor d_weights;       // f32 [capacity, 3, F]
  Tensor d_displacement;  // f32 [capacity, 3]
};
BIOGPU_DECLARE_OP(tensor_embed_grad, TensorEmbedGrad);

}  // namespace biogpu::ops
