#pragma once

#include "lib/ops/declare.hpp"
#include "lib/ops/neighbours/edges.hpp"

namespace biogpu::ops {

// out[e] = x[e] + receiver[i] + neighbour[j] for edge e from atom j to atom i. What the rows of
// atoms get back are sums over edges (lib/ops/message_passing/segment_sum.hpp).
struct PairAdd {
  Tensor x;          // f32 [capacity, d], contiguous
  Tensor receiver;   // f32 [T, d], contiguous
  Tensor neighbour;  // f32 [T, d], contiguous
  const Edges* edges = nullptr;
  Tensor out;  // f32 [capacity, d], contiguous; may be x's memory
};
BIOGPU_DECLARE_OP(pair_add, PairAdd);

}  // namespace biogpu::ops
