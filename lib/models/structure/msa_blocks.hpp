#pragma once

#include <cstdint>
#include <string>

#include "lib/models/structure/block_parts.hpp"

// Blocks between the rows of an alignment and the pairs of its columns (Abramson et al. 2024, doi
// 10.1038/s41586-024-07487-w, supplement, algorithms 9 and 10).
namespace biogpu::models {

struct MsaShape {
  std::int64_t c_msa = 64, c_pair = 128;
  std::int64_t c_outer = 32;             // of each side of the outer product
  std::int64_t n_heads = 8, d_head = 8;  // of the averaging
  bool divides_bias = true;              // of the outer product mean
};

// a, b = mask sides(norm(m)); z_ij += out(sum over rows s of a_si x b_sj) / (rows that both have +
// 1e-3), where the division comes behind the bias of out. In Boltz-2 it comes before the bias, and
// divides by the rows that both have, or 1 where there are none.
struct OuterProductMean {
  tensor::Norm norm;
  tensor::Linear sides;     // a, b
  tensor::Linear out;       // without its bias
  tensor::Tensor out_bias;  // f32 [c_pair]
  std::int64_t c_outer = 0;
  bool divides_bias = true;
};

// w = softmax over j of map(norm_pair(z))_ij; m_si += out(sigmoid(gate n_si) sum_j w_ij v_sj),
// where n = norm(m) and v = value(n).
struct PairWeightedAveraging {
  tensor::Norm norm, norm_pair;
  tensor::Linear value, gate, weight, out;
  std::int64_t n_heads = 0, d_head = 0;
};

// Under the names of Protenix. The sides of an outer product mean have biases where the checkpoint
// does, as in AlphaFold 2.
OuterProductMean read_outer_product_mean(tensor::Context& context, tensor::WeightTable& table,
                                         const std::string& name, const MsaShape& shape);
PairWeightedAveraging read_pair_weighted_averaging(tensor::Context& context,
                                                   tensor::WeightTable& table,
                                                   const std::string& name, const MsaShape& shape);

// m: f32 or, for write_*(), operand [S, N, c_msa], as z [N, N, c_pair]; mask: f32 [S, N] of 0 and
// 1, or empty; token_mask: f32 [N] of 0 and 1, where 0 weighs nothing, or empty.
void write_outer_product_mean(const BlockContext& run, const OuterProductMean& block,
                              const tensor::Tensor& m, const tensor::Tensor& mask,
                              const UpdateTarget& target);
void add_outer_product_mean(const BlockContext& run, const OuterProductMean& block,
                            const tensor::Tensor& m, const tensor::Tensor& mask,
                            const tensor::Tensor& z);
void write_pair_weighted_averaging(const BlockContext& run, const PairWeightedAveraging& block,
                                   const tensor::Tensor& m, const tensor::Tensor& z,
                                   const tensor::Tensor& token_mask, const UpdateTarget& target);
void add_pair_weighted_averaging(const BlockContext& run, const PairWeightedAveraging& block,
                                 const tensor::Tensor& m, const tensor::Tensor& z,
                                 const tensor::Tensor& token_mask);

}  // namespace biogpu::models
