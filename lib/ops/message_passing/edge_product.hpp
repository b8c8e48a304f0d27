#pragma once

#include <array>
#include <cstdint>

#include "lib/ops/declare.hpp"

namespace biogpu::ops {

// Which numbers of a node make which numbers of a message, through sets of weights.
struct EdgePaths {
  static constexpr int kMaxPaths = 64, kMaxOutputs = 8;
  static constexpr std::int32_t kMaxOrder = 9;  // numbers of a copy: orders up to 4
  // n copies of d numbers of the input, from `begin`; d x d' numbers of an edge's turns, from
  // `turn`; the first of n rows of the output's weights.
  struct Path {
    std::int32_t begin, n, d, turn, row;
  };
  // n copies of d numbers of the message, from `begin`; weights [n_rows, n] of an edge, from
  // `weights`; its paths, in the order of their rows, which leave none out.
  struct Output {
    std::int32_t begin, n, d, n_rows, weights, first_path, n_paths;
  };
  std::array<Path, kMaxPaths> paths{};
  std::array<Output, kMaxOutputs> outputs{};
  std::int32_t n_paths = 0, n_outputs = 0;
};

// Tensor-product convolution of equivariant networks (Thomas et al. 2018, arXiv 1802.08219; e3nn's
// FullyConnectedTensorProduct of one direction an edge), before the sum over edges: for each output
//   out[e, v, k] = sum over its paths and their copies u of
//                  weights[e, row + u, v] sum over i of x[sources[e], u, i] turns[e, i, k].
// turns: coupling coefficients times spherical harmonics of the edge. The order of additions
// depends on the output's rows and copies alone.
struct EdgeProduct {
  Tensor x;                          // f32 [N, *], rows of any distance
  Tensor sources;                    // i32 [E]
  Tensor turns;                      // f32 [E, *], rows of any distance
  Tensor weights;                    // f32 or operand [E, *], rows of any distance
  const EdgePaths* paths = nullptr;  // on the host
  Tensor out;                        // f32 [E, *], rows of any distance: numbers of all outputs
};
BIOGPU_DECLARE_OP(edge_product, EdgeProduct);

// Paths that reach behind a tensor, or need more than kernels have.
void check(const EdgeProduct& op);

}  // namespace biogpu::ops
