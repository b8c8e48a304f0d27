#pragma once

#include "lib/ops/activation.hpp"
#include "lib/ops/declare.hpp"

namespace biogpu::ops {

// Pairs of rows of a segment as one, weighted for each channel by a softmax over W x0 and W x1
// (Enformer: Avsec et al. 2021, doi 10.1038/s41592-021-01252-x), as one product of their
// difference: y = x1 + sigmoid(W (x0 - x1)) (x0 - x1). The last row of a segment of odd length is
// copied. A captured pass is of the lengths of segments that it was captured with, as conv1d's.
struct AttentionPool {
  Tensor x;                              // f32 [T, C], contiguous
  const Linear* linear = nullptr;        // W [C, C], without bias
  const Ragged* segments = nullptr;      // of x
  const Ragged* out_segments = nullptr;  // of the results: tensor::shortened_starts() by 2
  Tensor differences;                    // operand [T_out, C]: memory for x0 - x1
  Tensor out;                            // y, f32 [T_out, C], contiguous; empty: not wanted
  Activated activated;                   // of y
};
BIOGPU_DECLARE_OP(attention_pool, AttentionPool);

}  // namespace biogpu::ops
