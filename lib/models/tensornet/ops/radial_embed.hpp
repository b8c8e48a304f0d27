#pragma once

#include "lib/ops/declare.hpp"
#include "lib/ops/neighbours/edges.hpp"

// Tensors of atoms out of the directions of their edges. References take fp64 tensors as well as
// fp32 ones, all of one type.
namespace biogpu::models::tensornet {

using ops::Context;
using ops::CpuContext;
using ops::Edges;
using ops::Tensor;

// With u = r / |r| of edge e's displacement r (0 where r is), channel by channel:
//   X_i = sum over the edges e of atom i of w[e, 0] Id + w[e, 1] skew(u)
//         + w[e, 2] (u u^T - |u|^2 / 3 Id),   skew(u) v = u x v
//   w[e, p] = function (p, channel) of distance[e] * (receiver[types[i]] + neighbour[types[j]])
// for edge e from atom j to atom i. TensorNet's embedding (arXiv 2306.06482); functions as
// RadialTable has them (edge_ops.hpp), whose values are used where they are computed and never
// stored.
struct RadialEmbed {
  const Edges* edges = nullptr;
  Tensor table;  // f32 [K, 4, 3 F]
  float lower = 0;
  float upper = 0;
  Tensor receiver;   // f32 [n_types, F]
  Tensor neighbour;  // f32 [n_types, F]
  Tensor types;      // i32 [T]
  Tensor out;  // f32 [9, T, F], contiguous: numbers of lib/ops/cartesian_tensor/tensor_parts.hpp
};
BIOGPU_DECLARE_OP(radial_embed, RadialEmbed);

// Its gradient: d_displacement through directions alone, and what distances get back through w:
//   d_distance[e] = previous[e] + dE/dw[e] times the slopes of w[e]
struct RadialEmbedGrad {
  RadialEmbed forward;    // out is not read
  Tensor d_out;           // f32 [9, T, F], contiguous
  Tensor previous;        // f32 [capacity], or empty: 0; may be d_distance's memory
  Tensor d_distance;      // f32 [capacity]
  Tensor d_displacement;  // f32 [capacity, 3], contiguous
};
BIOGPU_DECLARE_OP(radial_embed_grad, RadialEmbedGrad);

}  // namespace biogpu::models::tensornet
