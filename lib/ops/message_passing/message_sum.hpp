#pragma once

#include "lib/ops/declare.hpp"
#include "lib/ops/neighbours/edges.hpp"

namespace biogpu::ops {

// out[c, i] = sum over the edges e of atom i of weights[e, part(c)] * x[c, neighbours[e]], number
// by number over the F channels, in the order of the edges. C = P = 1: one part. C = 9, P = 3:
// tensors of 3 x 3 as 9 numbers (lib/ops/cartesian_tensor/tensor_parts.hpp), whose scalar,
// antisymmetric and symmetric parts have a weight each.
struct MessageSum {
  Tensor x;        // f32 [C, T, F], contiguous
  Tensor weights;  // f32 [capacity, P, F], contiguous
  const Edges* edges = nullptr;
  Tensor out;  // f32 [C, T, F], contiguous
};
BIOGPU_DECLARE_OP(message_sum, MessageSum);

}  // namespace biogpu::ops
