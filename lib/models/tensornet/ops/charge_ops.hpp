#pragma once

#include "lib/ops/declare.hpp"
#include "lib/ops/neighbours/edges.hpp"

// Operations on charges of atoms: TensorNet2. References take fp64 tensors as well as fp32 ones,
// all of one type.
namespace biogpu::models::tensornet {

using ops::Context;
using ops::CpuContext;
using ops::Edges;
using ops::Tensor;

// What charges are predicted from: I, |A|^2 and |S|^2 of each channel's tensor, in the 9 numbers of
// lib/ops/cartesian_tensor/tensor_parts.hpp.
struct ChargeFeatures {
  Tensor x;    // f32 [9, T, F], contiguous
  Tensor out;  // f32 [T, 3 F], contiguous
};
BIOGPU_DECLARE_OP(charge_features, ChargeFeatures);

// Added to d_x.
struct ChargeFeaturesGrad {
  Tensor x;      // f32 [9, T, F], contiguous
  Tensor d_out;  // f32 [T, 3 F], contiguous
  Tensor d_x;    // f32 [9, T, F], contiguous
};
BIOGPU_DECLARE_OP(charge_features_grad, ChargeFeaturesGrad);

// Charges whose sum over a system is its total charge, for each of C kinds of charge: with raw
// charges p and softness f, rows [p, f] of x, and sums over the system's atoms,
//   out[i] = p[i] + f[i]^2 / (sum f^2 + 1e-6) (total[i] - sum p)
// (Zubatyuk et al. 2021, doi 10.1038/s41467-021-24904-0)
struct ChargeBalance {
  Tensor x;       // f32 [T, 2 C], contiguous
  Tensor total;   // f32 [T]: of the atom's system
  Tensor starts;  // i32 [systems + 1], atoms of each system
  Tensor out;     // f32 [T, C], rows of any distance
};
BIOGPU_DECLARE_OP(charge_balance, ChargeBalance);

struct ChargeBalanceGrad {
  Tensor x;       // f32 [T, 2 C], contiguous
  Tensor total;   // f32 [T]
  Tensor starts;  // i32 [systems + 1]
  Tensor d_out;   // f32 [T, C], rows of any distance
  Tensor d_x;     // f32 [T, 2 C], contiguous
};
BIOGPU_DECLARE_OP(charge_balance_grad, ChargeBalanceGrad);

// Coulomb energies of atoms, which are added to the first column of out:
//   out[i] += sum over the edges e of atom i of v(d) sum_c weights[c] q[i, c] q[j, c]
//   v(d) = (1 - D(d)) g(d),  D(d) = exp(1 - 1 / (1 - (d / 4.6)^2)) below 4.6, else 0
//   g(d) = 1 / d, or with a cutoff r the reaction field 1 / d + k d^2 - b of a dielectric constant
//   of 78.3 (lib/models/tensornet/ops/coulomb_pair.hpp)
struct Coulomb {
  Tensor charges;  // f32 [T, C], contiguous
  Tensor weights;  // f32 [C]
  const Edges* edges = nullptr;
  double cutoff = 0;  // 0: none
  Tensor out;         // f32 [T, *], contiguous
};
BIOGPU_DECLARE_OP(coulomb, Coulomb);

// Of the sum of all atoms' energies.
struct CoulombGrad {
  Tensor charges;  // f32 [T, C], contiguous
  Tensor weights;  // f32 [C]
  const Edges* edges = nullptr;
  double cutoff = 0;
  Tensor d_charges;   // f32 [T, C], contiguous
  Tensor d_distance;  // f32 [capacity]
};
BIOGPU_DECLARE_OP(coulomb_grad, CoulombGrad);

}  // namespace biogpu::models::tensornet
