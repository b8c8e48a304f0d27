#include "lib/ops/attention/attention.hpp"
#include "lib/ops/attention/cross_attention.hpp"
#include "lib/ops/attention/dot_product_attention.hpp"
#include "lib/ops/attention/qkv_rotary.hpp"
#include "lib/ops/attention/relative_attention.hpp"
#include "lib/ops/attention/rotate_heads.hpp"
#include "tests/ops/widths/sweep.hpp"

namespace biogpu::test {
namespace {

float scale_of(std::int64_t h) { return 1 / std::sqrt(static_cast<float>(h)); }

// Widths of the values of heads: the same, and another one where a pass is not emulated.
std::vector<std::int64_t> value_widths(const Bed& bed, std::int64_t width) {
  const std::int64_t other = width % 19 + 1;
  if (bed.is_cpu()) return {width, other};
  return {width % 2 == 0 ? width : other};
}

void sweep_attention(Bed& bed, std::int64_t h) {
  for (const std::int64_t h_v : value_widths(bed, h)) {
    CAPTURE(h_v);
    const std::int64_t n_heads = 2, n_key_heads = 1, n = bed.is_cpu() ? 45 : 17;
    const RaggedPair segments = bed.segments({1, static_cast<std::int32_t>(n)});
    const Pair qkv = bed.random({n + 1, n_heads * h + n_key_heads * (h + h_v)}, 0.7f, true);
    const Pair bias = bed.random({1, n_heads, n, n}, 0.7f, true);
    const Pair out = bed.unset({n + 1, n_heads * h_v}, true);
    compare(bed, {{out, operand_result(bed)}}, [&](Context& context, const auto& of) {
      std::int64_t column = 0;
      ops::Attention op;
      op.q = heads_at(of(qkv), column, n_heads, h);
      op.k = heads_at(of(qkv), column, n_key_heads, h);
      op.v = heads_at(of(qkv), column, n_key_heads, h_v);
      op.scale = scale_of(h);
      if (h % 2 == 0) op.bias = of(bias);
      op.segments = &of(segments);
      op.out = of(out);
      ops::attention(context, op);
    });
  }
}

// GPUs hold keys of up to 64 numbers, and say so.
void sweep_relative_attention(Bed& bed, std::int64_t width) {
  const std::int64_t d_k = bed.is_cpu() ? width : std::min<std::int64_t>(width, 63);
  for (const std::int64_t d_v : value_widths(bed, width)) {
    CAPTURE(d_v);
    const std::int64_t n_heads = 2, n = bed.is_cpu() ? 45 : 17;
    const RaggedPair segments = bed.segments({1, static_cast<std::int32_t>(n)});
    const Pair qkv = bed.random({n + 1, n_heads * (2 * d_k + d_v)}, 0.5f, true);
    const Pair content = bed.random({n_heads, d_k}, 0.5f, false);
    const Pair position = bed.random({n_heads, d_k}, 0.5f, false);
    const Pair relative = bed.random({n_heads, 2 * 50 - 1, d_k}, 0.5f, true);
    const Pair out = bed.unset({n + 1, n_heads * d_v}, true);
    compare(bed, {{out, operand_result(bed)}}, [&](Context& context, const auto& of) {
      std::int64_t column = 0;
      ops::RelativeAttention op;
      op.q = heads_at(of(qkv), column, n_heads, d_k);
      op.k = heads_at(of(qkv), column, n_heads, d_k);
      op.v = heads_at(of(qkv), column, n_heads, d_v);
      op.content_bias = of(content);
      op.position_bias = of(position);
      op.relative = of(relative);
      op.segments = &of(segments);
      op.out = of(out);
      ops::relative_attention(context, op);
    });
  }
}

void sweep_cross_attention(Bed& bed, std::int64_t h) {
  const std::int64_t n_heads = 4, n_key_heads = 2;
  const RaggedPair queries = bed.segments({1, 3, 2});
  const Pair q = bed.random({6, n_heads * h}, 0.7f, true);
  const Pair kv = bed.random({90, 2 * n_key_heads * h}, 0.7f, true);
  const Indices starts = bed.indices({0, 21, 40, 90});
  const Pair out = bed.unset({6, n_heads * h}, true);
  compare(bed, {{out, operand_result(bed)}}, [&](Context& context, const auto& of) {
    std::int64_t column = 0;
    ops::CrossAttention op;
    op.q = tensor::split_heads(of(q), n_heads);
    op.k = heads_at(of(kv), column, n_key_heads, h);
    op.v = heads_at(of(kv), column, n_key_heads, h);
    op.scale = scale_of(h);
    op.queries = &of(queries);
    op.key_starts = of(starts);
    op.out = of(out);
    ops::cross_attention(context, op);
  });
}

void sweep_dot_product_attention(Bed& bed, std::int64_t h) {
  for (const std::int64_t h_v : value_widths(bed, h)) {
    CAPTURE(h_v);
    const std::int64_t n_queries = 5, n_keys = bed.is_cpu() ? 45 : 17;
    const Pair q = bed.random({2, n_queries, 2, h}, 0.7f, true);
    const Pair k = bed.random({2, n_keys, 1, h}, 0.7f, true);
    const Pair v = bed.random({2, n_keys, 1, h_v}, 0.7f, true);
    const Pair bias = bed.random({1, 2, n_queries, n_keys}, 0.7f, h % 3 == 0);
    const Pair out = bed.unset({2, n_queries, 2, h_v}, true);
    compare(bed, {{out, operand_result(bed)}}, [&](Context& context, const auto& of) {
      ops::DotProductAttention op;
      op.q = of(q);
      op.k = of(k);
      op.v = of(v);
      op.scale = scale_of(h);
      op.bias = of(bias);
      op.out = of(out);
      ops::dot_product_attention(context, op);
    });
  }
}

// Cosines and sines of angles, [positions, n_rotated].
Pair angles(Bed& bed, std::int64_t n_positions, std::int64_t n_rotated) {
  std::vector<float> values;
  for (std::int64_t p = 0; p < n_positions; ++p)
    for (std::int64_t i = 0; i < n_rotated; ++i) {
      const auto angle = static_cast<float>(p * (i % (n_rotated / 2) + 1)) * 0.1f;
      values.push_back(i < n_rotated / 2 ? std::cos(angle) : std::sin(angle));
    }
  return bed.pair({n_positions, n_rotated}, values, false);
}

// Rotary positions take heads of an even width; others are multiplied without.
void sweep_qkv_rotary(Bed& bed, std::int64_t h) {
  const std::int64_t n_heads = 2, d = n_heads * h;
  const Pair x = bed.random({37, d}, 1, true);
  const LinearPair linear = bed.linear(3 * d, d);
  const Pair out = bed.unset({37, 3 * d}, true);
  const bool turns = h % 2 == 0;
  const Pair cos_sin = turns ? angles(bed, 40, h) : Pair();
  std::vector<std::int32_t> places;
  for (std::int32_t i = 0; i < 37; ++i) places.push_back(i * 7 % 40);
  const Indices positions = bed.indices(places);
  compare(bed, {{out, operand_result(bed)}}, [&](Context& context, const auto& of) {
    ops::QkvRotary op;
    op.x = of(x);
    op.linear = &of(linear);
    op.n_heads = n_heads;
    if (turns) op.rotary = {of(cos_sin)};
    op.positions = of(positions);
    op.qkv = of(out);
    ops::qkv_rotary(context, op);
  });
}

// In place, so once: heads of any width, of which an even number is rotated.
void sweep_rotate_heads(Bed& bed, std::int64_t width) {
  const std::int64_t h = width + 1, n_rotated = h - h % 2;
  const Pair x = bed.random({37, 3 * h}, 1, true), cos_sin = angles(bed, 40, n_rotated);
  std::vector<std::int32_t> places;
  for (std::int32_t i = 0; i < 37; ++i) places.push_back(i * 7 % 40);
  const Indices positions = bed.indices(places);
  const auto turn = [&](Context& context, const Tensor& rows, const Tensor& table,
                        const Tensor& at) {
    ops::rotate_heads(context, {tensor::split_heads(rows, 3), {table}, at});
  };
  turn(bed.reference(), x.host, cos_sin.host, positions.host);
  turn(bed.device(), x.device, cos_sin.device, positions.device);
  CHECK(bed.difference(x) < operand_result(bed));
}

}  // namespace

std::vector<WidthSweep> attention_sweeps() {
  return {{"attention", sweep_attention},
          {"relative_attention", sweep_relative_attention},
          {"cross_attention", sweep_cross_attention},
          {"dot_product_attention", sweep_dot_product_attention},
          {"qkv_rotary", sweep_qkv_rotary},
          {"rotate_heads", sweep_rotate_heads}};
}

}  // namespace biogpu::test
