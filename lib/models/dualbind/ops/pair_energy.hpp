#pragma once

#include "lib/models/dualbind/ops/declare.hpp"

namespace biogpu::models::dualbind {

// energy[c] = sum of b_i . t_j over atoms i of the ligand and j of the pocket of complex c that are
// closer than the cutoff, which is found in double precision from the positions. Sums over i are
// fp32, those over j and columns double precision; no matrix of pairs is stored.
struct PairEnergy {
  Tensor ligand;         // f32 [L, d]: b, rows as those of FrameMean::out
  Tensor pocket;         // f32 [T - L, d]: t
  Tensor positions;      // f32 [T, 3], of tokens
  Tensor starts;         // i32 [C + 1]
  Tensor ligand_starts;  // i32 [C + 1]
  float cutoff = 0;      // Angstrom
  Tensor energy;         // f64 [C]
};
BIOGPU_DECLARE_OP(pair_energy, PairEnergy);

// Whether two positions are closer than the cutoff.
#ifndef BIOGPU_PAIR_FUNCTION
#define BIOGPU_PAIR_FUNCTION inline
#endif
BIOGPU_PAIR_FUNCTION bool is_near(const float* x, const float* y, float cutoff) {
  double sum = 0;
  for (int i = 0; i < 3; ++i) {
    const double apart = static_cast<double>(x[i]) - static_cast<double>(y[i]);
    sum += apart * apart;
  }
  return sum < static_cast<double>(cutoff) * static_cast<double>(cutoff);
}

}  // namespace biogpu::models::dualbind
