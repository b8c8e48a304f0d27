#pragma once

#include <cstdint>
#include <vector>

#include "lib/models/proteinmpnn/ops/edge_message.hpp"
#include "lib/ops/activation.hpp"

namespace biogpu::models::proteinmpnn {

using ops::Activation;

// Steps of operations on edges that one thread does on the edges of a node or on a few nodes,
// dispatched to the CPU's instruction set. Every row's result is the same with any rows next to
// it. Widths are multiples of 32.

// Nodes that one thread takes at a time: whole tiles of every instruction set.
inline constexpr std::int64_t kNodesAtOnce = 12;

// Memory of one thread, cut out of its Scratch.
struct EdgeRoom {
  static std::int64_t floats(std::int64_t k, std::int64_t d) {
    return 2 * k * d + 6 * kNodesAtOnce * d + kNodesAtOnce;
  }
  EdgeRoom(float* memory, std::int64_t k, std::int64_t d)
      : edge_a(memory),
        edge_b(edge_a + k * d),
        sums(edge_b + k * d),
        change(sums + kNodesAtOnce * d),
        inner(change + kNodesAtOnce * d),
        counts(inner + 4 * kNodesAtOnce * d),
        senders(static_cast<std::size_t>(k)) {}

  float* edge_a;  // [k, d]
  float* edge_b;  // [k, d]
  float* sums;    // [kNodesAtOnce, d]: of messages
  float* change;  // [kNodesAtOnce, d]
  float* inner;   // [kNodesAtOnce, 4 d]
  float* counts;  // [kNodesAtOnce]: messages of each sum
  std::vector<const float*> senders;
};

// Edges of a node, and what its ends add to them.
struct EdgeRows {
  const float* edges = nullptr;
  std::int64_t stride = 0;  // between edges
  std::int64_t n = 0;
  const float* receiver = nullptr;
  const float* const* senders = nullptr;  // a row for each edge
};

// out = activation(x W^T + b), dense rows.
void multiply_block(const Linear& linear, const float* x, std::int64_t n_rows,
                    Activation activation, float* out);
// out [n, d] = gelu(W edges + receiver + senders); without a map: the edges are multiplied already.
void multiply_edges(const Linear* linear, const EdgeRows& rows, std::int64_t d, float* out);
// sum[d] = the sum of gelu(x W^T + b) over the rows whose use is not 0. use: none means all.
void sum_messages(const Linear& middle, const float* x, std::int64_t n_rows,
                  const std::uint8_t* use, float* sum);
// h = LayerNorm(h + change), dense rows.
void add_norm_block(const Norm& norm, const float* change, std::int64_t n_rows, float* h);
// h from room.sums and room.counts, for up to kNodesAtOnce dense rows.
void update_nodes(const NodeUpdate& update, std::int64_t n_rows, const EdgeRoom& room, float* h);

}  // namespace biogpu::models::proteinmpnn
