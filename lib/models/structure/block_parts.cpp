#include "lib/models/structure/block_parts.hpp"

#include <array>
#include <cmath>

#include "lib/ops/elementwise/map.hpp"
#include "lib/ops/gemm/gemm.hpp"
#include "lib/ops/normalisation/add_layer_norm.hpp"
#include "lib/tensor/views.hpp"

namespace biogpu::models {

using tensor::Context;
using tensor::DType;
using tensor::Linear;
using tensor::LinearPart;
using tensor::Norm;
using tensor::Tensor;
using tensor::WeightTable;

Linear take_maps(Context& context, WeightTable& table, std::span<const LinearPart> parts,
                 std::int64_t n_in, bool has_bias) {
  table.sum_in_parts();
  return table.take_linear_parts(context, parts, n_in, has_bias);
}

Linear take_map(Context& context, WeightTable& table, const std::string& name, std::int64_t n_out,
                std::int64_t n_in, bool has_bias) {
  const LinearPart part{name, n_out};
  return take_maps(context, table, {&part, 1}, n_in, has_bias);
}

Norm take_norm_without_bias(Context& context, WeightTable& table, const std::string& name,
                            std::int64_t d) {
  const tensor::HostTensor weight = table.take(name + ".weight", {d});
  return {context.upload(weight.view, DType::f32), {}, kNormEps};
}

GatedHeads read_heads(Context& context, WeightTable& table, const std::string& name, std::int64_t c,
                      std::int64_t n_heads, std::int64_t d_head, bool query_bias) {
  GatedHeads heads;
  heads.n_heads = n_heads;
  heads.d_head = d_head;
  const std::int64_t width = n_heads * d_head;
  heads.query = take_map(context, table, name + ".linear_q", width, c, query_bias);
  const std::array<LinearPart, 2> keys = {LinearPart{name + ".linear_k", width},
                                          LinearPart{name + ".linear_v", width}};
  heads.key_value = take_maps(context, table, keys, c, false);
  heads.gate =
      take_map(context, table, name + ".linear_g", width, c, table.has(name + ".linear_g.bias"));
  heads.out =
      take_map(context, table, name + ".linear_o", c, width, table.has(name + ".linear_o.bias"));
  return heads;
}

Tensor rows_of_pairs(const Tensor& z) {
  return {z.data, z.dtype, {z.shape[0] * z.shape[1], z.shape[2]}};
}

Tensor take_operand(const BlockContext& run, std::int64_t n_rows, std::int64_t width) {
  return run.arena.take(run.context.compute_dtype(), {n_rows, width});
}

Tensor normalised(const BlockContext& run, const Tensor& x, const Norm& norm) {
  ops::AddLayerNorm op;
  op.x = x;
  op.norm = norm;
  op.out_operand = take_operand(run, x.shape[0], x.shape[1]);
  ops::add_layer_norm(run.context, op);
  return op.out_operand;
}

void multiply(const BlockContext& run, const Tensor& x, const Linear& linear, const Tensor& out) {
  ops::Gemm op;
  op.x = x;
  op.linear = &linear;
  op.out = out;
  ops::gemm(run.context, op);
}

Tensor product(const BlockContext& run, const Tensor& x, const Linear& linear) {
  const Tensor out = take_operand(run, x.shape[0], linear.n_out);
  multiply(run, x, linear, out);
  return out;
}

Tensor as_operand(const BlockContext& run, const Tensor& x) {
  if (x.dtype == run.context.compute_dtype()) return x;
  const Tensor out = take_operand(run, x.shape[0], x.shape[1]);
  ops::map(run.context, ops::map_copy(x, out));
  return out;
}

Tensor float_product(const BlockContext& run, const Tensor& x, const Linear& linear) {
  const Tensor out = run.arena.take(DType::f32, {x.shape[0], linear.n_out});
  multiply(run, x, linear, out);
  return out;
}

void write_product(const BlockContext& run, const Tensor& x, const Linear& linear,
                   const UpdateTarget& target) {
  ops::gemm(run.context, {x, &linear, ops::Activation::none, target.residual, target.out});
}

void write_gated(const BlockContext& run, const Tensor& gate, const Tensor& y,
                 const UpdateTarget& target) {
  ops::map(run.context, target.residual.empty()
                            ? ops::map_gate(gate, y, target.out)
                            : ops::map_gate_shift(gate, y, target.residual, target.out));
}

Tensor gated_heads(const BlockContext& run, ops::DotProductAttention op, const GatedHeads& heads,
                   const Tensor& x, const ShowLines& lines) {
  const std::int64_t width = heads.n_heads * heads.d_head;
  const auto split = [&](const Tensor& rows) {
    return lines(tensor::split_axis(rows, 1, heads.d_head));
  };
  const Tensor attended = take_operand(run, x.shape[0], width);
  const Tensor key_value = product(run, x, heads.key_value);
  op.q = split(product(run, x, heads.query));
  op.k = split(key_value.slice(1, 0, width));
  op.v = split(key_value.slice(1, width, 2 * width));
  op.scale = static_cast<float>(1 / std::sqrt(static_cast<double>(heads.d_head)));
  op.out = split(attended);
  const Tensor gate = product(run, x, heads.gate);
  ops::dot_product_attention(run.context, op);
  ops::map(run.context, ops::map_gate(gate, attended, attended));
  return attended;
}

}  // namespace biogpu::models
