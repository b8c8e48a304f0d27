#pragma once

#include "lib/ops/declare.hpp"
#include "lib/ops/neighbours/edges.hpp"

namespace biogpu::ops {

// The gradient of message_sum (lib/ops/message_passing/message_sum.hpp), edge e being from
// neighbour j to atom i:
//   d_weights[e, p] = sum over c of part p of d_out[c, i] * x[c, j]
//   d_x[c, i] = sum over the edges e of atom i of weights[reverse[e], part(c)] * d_out[c, j]
struct MessageSumGrad {
  Tensor x;        // f32 [C, T, F], contiguous, as are all
  Tensor weights;  // f32 [capacity, P, F]
  const Edges* edges = nullptr;
  Tensor d_out;      // f32 [C, T, F]
  Tensor d_weights;  // f32 [capacity, P, F]
  Tensor d_x;        // f32 [C, T, F]
};
BIOGPU_DECLARE_OP(message_sum_grad, MessageSumGrad);

}  // namespace biogpu::ops
