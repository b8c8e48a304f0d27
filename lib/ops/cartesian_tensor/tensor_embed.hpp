#pragma once

#include "lib/ops/declare.hpp"
#include "lib/ops/neighbours/edges.hpp"

namespace biogpu::ops {

// Tensors of atoms out of the directions of their edges, with u = r / |r| of edge e's displacement
// r (0 where r is), channel by channel:
//   X_i = sum over the edges e of atom i of weights[e, 0] Id + weights[e, 1] skew(u)
//         + weights[e, 2] (u u^T - |u|^2 / 3 Id),   skew(u) v = u x v
// TensorNet's embedding (arXiv 2306.06482). out: the 9 numbers of
// lib/ops/cartesian_tensor/tensor_parts.hpp.
struct TensorEmbed {
  Tensor weights;  // f32 [capacity, 3, F], contiguous
  const Edges* edges = nullptr;
  Tensor out;  // f32 [9, T, F], contiguous
};
BIOGPU_DECLARE_OP(tensor_embed, TensorEmbed);

}  // namespace biogpu::ops
