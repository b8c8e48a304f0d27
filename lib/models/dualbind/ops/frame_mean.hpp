#pragma once

#include "lib/models/dualbind/ops/declare.hpp"

namespace biogpu::models::dualbind {

// The mean over the eight frames of layer_norm(x): what a token has that no rotation or reflection
// changes. Tokens of ligands come first, complex by complex, then those of pockets.
struct FrameMean {
  Tensor x;              // f32 or operand [8 T, d], as FrameTokens::out
  Norm norm;             // weight and bias [d]
  Tensor complexes;      // i32 [T], rising
  Tensor starts;         // i32 [C + 1]
  Tensor ligand_starts;  // i32 [C + 1]: of the tokens of ligands, the first of each complex
  Tensor out;            // f32 or operand [T, d]
};
BIOGPU_DECLARE_OP(frame_mean, FrameMean);

}  // namespace biogpu::models::dualbind
