#pragma once

#include "lib/models/dualbind/ops/declare.hpp"

namespace biogpu::models::dualbind {

// Tokens in the eight frames of their complex: with p_i = axis i . (x - centre),
// out[f, t] = features[t] + sum over i of sign(f, i) p_i weight[i] (Puny et al. 2022,
// arXiv 2110.03336). What of the reference's linear map reads features is in these already.
struct FrameTokens {
  Tensor ligand;     // f32 [A, d]: features of atoms of ligands
  Tensor pocket;     // f32 [K, d]: features of kinds of atoms of pockets
  Tensor sources;    // i32 [T]: a row of `ligand`, or A + a row of `pocket`
  Tensor positions;  // f32 [T, 3]
  Tensor complexes;  // i32 [T], rising
  Tensor starts;     // i32 [C + 1]
  Tensor centre;     // f32 [C, 3]
  Tensor axes;       // f32 [C, 3, 3], in columns
  Tensor weight;     // f32 [3, d]
  // f32 or operand [8 T, d]: of complex c from row 8 starts[c] on, its tokens in frame after frame.
  Tensor out;
};
BIOGPU_DECLARE_OP(frame_tokens, FrameTokens);

}  // namespace biogpu::models::dualbind
