#pragma once

#include "lib/models/dualbind/ops/declare.hpp"

namespace biogpu::models::dualbind {

// out[r] = sum of relu(m[b]) over the bonds b that come into atom a, minus relu(m[without[r]]);
// a = atoms[r], or r. (Yang et al. 2019, doi 10.1021/acs.jcim.9b00237, equations 2 and 5)
struct BondMessages {
  Tensor m;        // f32 [B, d]
  Tensor starts;   // i32 [A + 1]: of the bonds into each atom
  Tensor order;    // i32 [B]
  Tensor atoms;    // i32 [R]; or empty
  Tensor without;  // i32 [R]; or empty
  Tensor out;      // f32 or operand [R, d], rows of any distance
};
BIOGPU_DECLARE_OP(bond_messages, BondMessages);

}  // namespace biogpu::models::dualbind
