#pragma once

#include <cstdint>
#include <string>

#include "lib/models/structure/block_parts.hpp"
#include "lib/tensor/context.hpp"
#include "lib/tensor/weights/weight_table.hpp"

// Blocks of structure models that update the pairs of tokens, or the tokens by their pairs:
// AlphaFold 2 (Jumper et al. 2021, doi 10.1038/s41586-021-03819-2, supplement 1.6.5 to 1.6.7) and
// AlphaFold 3 (Abramson et al. 2024, doi 10.1038/s41586-024-07487-w, supplement, algorithms 11 to
// 15 and 24). add_*() adds the update of a block to its input, which is fp32: norms, products and
// attention read operands, so that rounding does not add up over blocks.
namespace biogpu::models {

// Extents of the blocks of pairs.
struct PairShape {
  std::int64_t c_pair = 128;
  std::int64_t c_product = 128;   // of triangle products
  std::int64_t n_heads = 4;       // of triangle attention
  std::int64_t d_head = 32;       // of each of them
  std::int64_t n_transition = 4;  // hidden numbers of a transition for each of its input
};

// n = norm_in(z); a = mask sigmoid(gate_a n) (map_a n), b alike; over k, x_ij = sum of a_ik b_jk
// (outgoing) or of a_ki b_kj (incoming); z += out(norm_out(x)) sigmoid(gate n).
struct TriangleProduct {
  tensor::Norm norm_in, norm_out;
  tensor::Linear projections;  // map_a, map_b, gate_a, gate_b, gate
  tensor::Linear out;
  std::int64_t c_product = 0;
};

// n = norm(z); pairs (i, j) of a row i attend to its pairs (i, k), with the bias map(n)_jk and
// where mask_ik is not 0; around the ending node columns do.
struct TriangleAttention {
  tensor::Norm norm;
  tensor::Linear bias;
  GatedHeads heads;
  bool swaps_bias = false;  // the bias of (k, j), as around OpenFold3's ending node since 0.5
};

// x += down(silu(a) b), where a and b are halves of up(norm(x)); in AlphaFold 2
// x += down(relu(up(norm(x)))), with biases.
struct Transition {
  tensor::Norm norm;
  tensor::Linear up;
  tensor::Linear down;
  bool is_relu = false;
};

// Tokens attend to tokens, with the bias map(norm_pair(z))_ij.
struct PairBiasAttention {
  tensor::Norm norm, norm_pair;
  tensor::Linear bias;
  GatedHeads heads;
};

// Under the names of Protenix. name: of the block, without the dot behind it. Maps that have biases
// in AlphaFold 2 have them where the checkpoint does: all of a triangle product, the gate and the
// output of triangle attention.
TriangleProduct read_triangle_product(tensor::Context& context, tensor::WeightTable& table,
                                      const std::string& name, const PairShape& shape);
TriangleAttention read_triangle_attention(tensor::Context& context, tensor::WeightTable& table,
                                          const std::string& name, const PairShape& shape);
// Of AlphaFold 2 where the checkpoint has the names of openfold: layer_norm, linear_1, linear_2.
Transition read_transition(tensor::Context& context, tensor::WeightTable& table,
                           const std::string& name, std::int64_t c, std::int64_t n_transition);
// n_heads: divides c_token.
PairBiasAttention read_pair_bias_attention(tensor::Context& context, tensor::WeightTable& table,
                                           const std::string& name, std::int64_t c_token,
                                           std::int64_t c_pair, std::int64_t n_heads);

// z: f32 or, for write_*(), operand [N, N, c_pair], contiguous; write_*() may write to its memory.
// mask: f32 [N, N] of 0 and 1, contiguous, or empty: all 1.
enum class Edges { outgoing, incoming };
void write_triangle_product(const BlockContext& run, const TriangleProduct& block, Edges edges,
                            const tensor::Tensor& z, const tensor::Tensor& mask,
                            const UpdateTarget& target);
void add_triangle_product(const BlockContext& run, const TriangleProduct& block, Edges edges,
                          const tensor::Tensor& z, const tensor::Tensor& mask);
// A masked key has a logit of -1e9: a row without other keys weighs all equally.
enum class Node { starting, ending };
void write_triangle_attention(const BlockContext& run, const TriangleAttention& block, Node node,
                              const tensor::Tensor& z, const tensor::Tensor& mask,
                              const UpdateTarget& target);
void add_triangle_attention(const BlockContext& run, const TriangleAttention& block, Node node,
                            const tensor::Tensor& z, const tensor::Tensor& mask);
// x: f32 or, for write_*(), operand [R, c], contiguous.
void write_transition(const BlockContext& run, const Transition& block, const tensor::Tensor& x,
                      const UpdateTarget& target);
void add_transition(const BlockContext& run, const Transition& block, const tensor::Tensor& x);
// s: f32 or, for write_*(), operand [B N, c_token]: B times N tokens, which share z [N, N, c_pair]
// and the mask. mask: f32 [N], of the keys, or empty.
void write_pair_bias_attention(const BlockContext& run, const PairBiasAttention& block,
                               const tensor::Tensor& s, const tensor::Tensor& z,
                               const tensor::Tensor& mask, const UpdateTarget& target);
void add_pair_bias_attention(const BlockContext& run, const PairBiasAttention& block,
                             const tensor::Tensor& s, const tensor::Tensor& z,
                             const tensor::Tensor& mask);

}  // namespace biogpu::models
