#pragma once

#include <cstdint>

#include "lib/models/proteinmpnn/ops/declare.hpp"

namespace biogpu::models::proteinmpnn {

// A node after its messages: h' and out of EdgeMessage.
struct NodeUpdate {
  const Linear* last = nullptr;  // [d, d], BlockUse::node, like the others
  const Linear* in = nullptr;    // [4 d, d]
  const Linear* out = nullptr;   // [d, 4 d]
  Norm before, after;
};

// What nodes of a graph gather from their edges (Dauparas et al. 2022, doi
// 10.1126/science.add2187). The first layer of a message, W [receiver, edge, sender], is cut into
// what belongs to an edge and what belongs to its ends, which is multiplied once a node:
//   m_e = gelu(W_middle gelu(W_edge edge_e + receiver_t + sender_e) + b)
//   h'  = LayerNorm_before(h + W_last sum_e m_e + n b_last)      n: messages of the sum
//   out = LayerNorm_after(h' + W_out gelu(W_in h' + b) + b)
// and what the node then adds to further messages. A node that is absent is 0 in any case.
// Hosts: d a multiple of 32; GPUs: d = 128, K <= 48.
struct EdgeMessage {
  // out = W x + b + table[id] of the new node.
  struct Next {
    const Linear* linear = nullptr;  // [n, d], BlockUse::node; GPUs: n a multiple of 256
    Tensor table;                    // f32 [*, n], contiguous; or empty
    Tensor ids;                      // i32 [T]
    Tensor out;                      // f32 [T, n], rows of any distance
  };

  Tensor edges;  // f32 [R, K, d], the last axis contiguous
  const Linear* edge =
      nullptr;                // [d, d], BlockUse::edges, without a bias; null: multiplied already
  Tensor edge_rows;           // i32 [T]: which of the R rows a node's edges are; empty: its own
  Tensor counts;              // i32 [R]: edges of each row, the first of K
  Tensor receiver;            // f32 [T, d], rows of any distance, 0 for one of all nodes
  Tensor sender;              // f32 [S, d], likewise
  Tensor senders;             // i32 [T, K]: rows of sender
  Tensor present;             // u8 [R]
  bool only_present = false;  // messages of absent senders do not count (S = R)
  const Linear* middle = nullptr;  // [d, d], BlockUse::edges
  NodeUpdate update;
  Tensor h;      // f32 [T, d], contiguous; or empty: 0
  Tensor out;    // f32 [T, d], contiguous; may be h
  Next next[2];  // those that have a linear map
};
BIOGPU_DECLARE_OP(edge_message, EdgeMessage);
void check(const EdgeMessage& op);

}  // namespace biogpu::models::proteinmpnn
