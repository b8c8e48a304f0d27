#pragma once

#include "lib/models/proteinmpnn/ops/declare.hpp"

namespace biogpu::models::proteinmpnn {

// Edges of a graph from their ends, in place; ends as EdgeMessage has them (Dauparas et al. 2022,
// doi 10.1126/science.add2187):
//   edge = LayerNorm(edge + W_last gelu(W_middle gelu(W_edge edge + receiver + sender) + b) + b)
// Hosts: d a multiple of 32; GPUs: d = 128, K <= 48.
struct EdgeUpdate {
  Tensor edges;                    // f32 [T, K, d], contiguous
  Tensor counts;                   // i32 [T]: edges of each node, the first of K
  Tensor receiver;                 // f32 [T, d], rows of any distance
  Tensor sender;                   // f32 [S, d], likewise
  Tensor senders;                  // i32 [T, K]: rows of sender
  const Linear* edge = nullptr;    // [d, d], BlockUse::edges, like the others; without a bias
  const Linear* middle = nullptr;  // [d, d]
  const Linear* last = nullptr;    // [d, d]
  Norm norm;
};
BIOGPU_DECLARE_OP(edge_update, EdgeUpdate);
void check(const EdgeUpdate& op);

}  // namespace biogpu::models::proteinmpnn
