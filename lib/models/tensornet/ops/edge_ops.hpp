#pragma once

#include "lib/ops/declare.hpp"
#include "lib/ops/neighbours/edges.hpp"

// Operations on edges. References take fp64 tensors as well as fp32 ones, all of one type.
namespace biogpu::models::tensornet {

using ops::Context;
using ops::CpuContext;
using ops::Edges;
using ops::Norm;
using ops::Tensor;

// Functions of a distance out of a table of cubic polynomials: K intervals of equal length from
// lower to upper, C functions with 4 coefficients each, and 0 below lower. With the place t, 0 to
// 1, of distance[e] in its interval k:
//   out[e, c] = a0 + t (a1 + t (a2 + t a3)),  a_n = table[k, n, c]
// (lib/models/tensornet/weights/radial_fit.hpp makes tables.)
struct RadialTable {
  Tensor distance;  // f32 [E]
  Tensor table;     // f32 [K, 4, C]
  float lower = 0;
  float upper = 0;
  Tensor out;  // f32 [E, C], contiguous
};
BIOGPU_DECLARE_OP(radial_table, RadialTable);

// d_distance[e] = previous[e] + sum over c of d_out[e, c] times the slope of function c.
struct RadialTableGrad {
  Tensor distance;  // f32 [E]
  Tensor table;     // f32 [K, 4, C]
  float lower = 0;
  float upper = 0;
  Tensor d_out;       // f32 [E, C], contiguous
  Tensor previous;    // f32 [E], or empty: 0; may be d_distance's memory
  Tensor d_distance;  // f32 [E]
};
BIOGPU_DECLARE_OP(radial_table_grad, RadialTableGrad);

// What an atom's edges add to dE/d(strain), with g[e] of
// lib/ops/neighbours/neighbour_list_grad.hpp:
//   out[i, 3 k + l] = sum over the edges e of atom i of r[e, k] g[e, l]
struct EdgeVirial {
  const Edges* edges = nullptr;
  Tensor d_distance;      // f32 [capacity]
  Tensor d_displacement;  // f32 [capacity, 3], contiguous; or empty: 0
  Tensor out;             // f32 [T, 9], contiguous
};
BIOGPU_DECLARE_OP(edge_virial, EdgeVirial);

}  // namespace biogpu::models::tensornet
