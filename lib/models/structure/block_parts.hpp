#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "lib/ops/attention/dot_product_attention.hpp"
#include "lib/tensor/context.hpp"
#include "lib/tensor/weights/weight_table.hpp"

// What blocks of structure models are written with.
namespace biogpu::models {

// Where the operations of a block run, and the memory for what lies between them.
struct BlockContext {
  tensor::Context& context;
  tensor::Arena& arena;
};

inline constexpr float kNormEps = 1e-5f;
// Of a masked key: a row without other keys weighs all equally.
inline constexpr float kMaskedLogit = -1e9f;

// Where the update of a block goes: out = residual + update, or the update alone where there is no
// residual. Rows of the input that the block updates, of one type, f32 or operand; out may be the
// memory of the residual.
struct UpdateTarget {
  tensor::Tensor residual, out;
};

// Heads with a gate: out(sigmoid(gate x) attention(x)).
struct GatedHeads {
  tensor::Linear query, key_value, gate, out;
  std::int64_t n_heads = 0, d_head = 0;
};

// One map of several, each with a bias or none. In fp32 a GPU sums it in parts: a library's
// truncated sums over wide layers were off by more than roundings.
tensor::Linear take_maps(tensor::Context& context, tensor::WeightTable& table,
                         std::span<const tensor::LinearPart> parts, std::int64_t n_in,
                         bool has_bias);
// NAME.weight and, with a bias, NAME.bias.
tensor::Linear take_map(tensor::Context& context, tensor::WeightTable& table,
                        const std::string& name, std::int64_t n_out, std::int64_t n_in,
                        bool has_bias = false);
// NAME.weight alone.
tensor::Norm take_norm_without_bias(tensor::Context& context, tensor::WeightTable& table,
                                    const std::string& name, std::int64_t d);
// NAME.linear_q (with a bias where it is said so), _k, _v, _g and _o, the last two with a bias
// where the checkpoint has one.
GatedHeads read_heads(tensor::Context& context, tensor::WeightTable& table, const std::string& name,
                      std::int64_t c, std::int64_t n_heads, std::int64_t d_head, bool query_bias);

// [A, B, c] as rows [A * B, c].
tensor::Tensor rows_of_pairs(const tensor::Tensor& z);

// Results of the operands' type, in memory of the innermost scope.
tensor::Tensor take_operand(const BlockContext& run, std::int64_t n_rows, std::int64_t width);
tensor::Tensor normalised(const BlockContext& run, const tensor::Tensor& x,
                          const tensor::Norm& norm);
tensor::Tensor product(const BlockContext& run, const tensor::Tensor& x,
                       const tensor::Linear& linear);
// x as operands: itself where it has their type.
tensor::Tensor as_operand(const BlockContext& run, const tensor::Tensor& x);
// The same product in fp32.
tensor::Tensor float_product(const BlockContext& run, const tensor::Tensor& x,
                             const tensor::Linear& linear);
void multiply(const BlockContext& run, const tensor::Tensor& x, const tensor::Linear& linear,
              const tensor::Tensor& out);
// The update is linear x.
void write_product(const BlockContext& run, const tensor::Tensor& x, const tensor::Linear& linear,
                   const UpdateTarget& target);
// The update is sigmoid(gate) y.
void write_gated(const BlockContext& run, const tensor::Tensor& gate, const tensor::Tensor& y,
                 const UpdateTarget& target);

// Shows rows [R, heads, h] as [B, queries or keys, heads, h].
using ShowLines = std::function<tensor::Tensor(const tensor::Tensor& rows)>;
// Heads of x before `out`, [R, heads * h]. op: bias and mask of the attention.
tensor::Tensor gated_heads(const BlockContext& run, ops::DotProductAttention op,
                           const GatedHeads& heads, const tensor::Tensor& x,
                           const ShowLines& lines);

}  // namespace biogpu::models
