// The operations of this family at the shapes of models.
#include <fmt/format.h>

#include <cmath>
#include <string>

#include "lib/ops/attention/attention.hpp"
#include "lib/ops/attention/cross_attention.hpp"
#include "lib/ops/attention/dot_product_attention.hpp"
#include "lib/ops/attention/qkv_rotary.hpp"
#include "lib/ops/attention/relative_attention.hpp"
#include "lib/ops/attention/rotate_heads.hpp"
#include "lib/ops/bench/op_bench.hpp"

namespace biogpu::ops {

namespace {

Tensor part(const Tensor& all, std::int64_t begin, std::int64_t n_heads, std::int64_t h) {
  return tensor::split_heads(all.slice(1, begin, begin + n_heads * h), n_heads);
}

void run(OpBench& bench, const char* name, bool with_bias) {
  if (!bench.wanted(name)) return;
  const BenchShape& shape = bench.shape();
  const std::int64_t d = shape.d, n_heads = shape.n_heads, h = d / n_heads, n = shape.length,
                     t = shape.n_rows();
  const BenchTensor qkv = bench.make({t, 3 * d}, 1, true), out = bench.make({t, d}, 1, true);
  const BenchTensor bias = with_bias ? bench.make({1, n_heads, n, n}, 1, true) : BenchTensor{};
  const float scale = 1 / std::sqrt(static_cast<float>(h));
  const Attention op{part(qkv.device, 0, n_heads, h),
                     part(qkv.device, d, n_heads, h),
                     part(qkv.device, 2 * d, n_heads, h),
                     scale,
                     bias.device,
                     &bench.segments(),
                     out.device,
                     {}};
  attention(bench.context(), op);
  // The reference computes the first head of the first segment.
  const Ragged first = OpBench::one_segment(n);
  std::vector<float> memory(static_cast<std::size_t>(n * h));
  const Tensor expected(memory.data(), DType::f32, {n, h});
  attention(bench.reference(), {part(qkv.host, 0, 1, h),
                                part(qkv.host, d, 1, h),
                                part(qkv.host, 2 * d, 1, h),
                                scale,
                                with_bias ? bias.host.slice(1, 0, 1) : Tensor(),
                                &first,
                                expected,
                                {}});
  const double operand = bench.operand_bytes();
  const auto pairs = static_cast<double>(shape.n_segments * n * n * n_heads);
  bench.add(name, fmt::format("{} x {}, {} heads of {}", shape.n_segments, n, n_heads, h),
            operand * 4 * static_cast<double>(t * d) + (with_bias ? operand * pairs : 0),
            4 * pairs * static_cast<double>(h), bench.error(out.device.slice(1, 0, h), expected),
            [&] { attention(bench.context(), op); });
}

}  // namespace

void attention_bench(OpBench& bench) {
  run(bench, "attention", false);
  if (bench.shape().d <= 1280) run(bench, "attention + bias", true);
}

// A step of decoding: one query for each segment, which sees as many keys as the shape has rows.
void cross_attention_bench(OpBench& bench) {
  if (!bench.wanted("cross attention")) return;
  const BenchShape& shape = bench.shape();
  const std::int64_t d = shape.d, n_heads = shape.n_heads, h = d / n_heads, n = shape.length;
  const BenchTensor q = bench.make({shape.n_segments, d}, 1, true),
                    kv = bench.make({shape.n_rows(), 2 * d}, 1, true),
                    out = bench.make({shape.n_segments, d}, 1, true);
  const std::size_t bytes = static_cast<std::size_t>(shape.n_segments) * 16 + 4096;
  tensor::Arena arena(bench.context().allocate(bytes), bytes);
  std::vector<std::int32_t> starts;
  for (std::int64_t s = 0; s <= shape.n_segments; ++s)
    starts.push_back(static_cast<std::int32_t>(s));
  const Ragged queries = bench.context().upload_ragged(starts, arena);
  const auto part = [&](const Tensor& all, std::int64_t begin, std::int64_t heads) {
    return tensor::split_heads(all.slice(1, begin, begin + heads * h), heads);
  };
  const float scale = 1 / std::sqrt(static_cast<float>(h));
  const CrossAttention op{part(q.device, 0, n_heads),
                          part(kv.device, 0, n_heads),
                          part(kv.device, d, n_heads),
                          scale,
                          &queries,
                          bench.segments().device_starts,
                          {},
                          false,
                          out.device};
  cross_attention(bench.context(), op);
  // The reference computes the first head of the first segment.
  const Ragged first = OpBench::one_segment(1);
  std::vector<float> memory(static_cast<std::size_t>(h));
  std::vector<std::int32_t> key_starts{0, static_cast<std::int32_t>(n)};
  const Tensor expected(memory.data(), DType::f32, {1, h});
  cross_attention(bench.reference(), {part(q.host, 0, 1),
                                      part(kv.host, 0, 1),
                                      part(kv.host, d, 1),
                                      scale,
                                      &first,
                                      Tensor(key_starts.data(), DType::i32, {2}),
                                      {},
                                      false,
                                      expected});
  bench.add("cross attention",
            fmt::format("{} queries x {} keys, {} heads of {}", shape.n_segments, n, n_heads, h),
            bench.operand_bytes() * static_cast<double>(2 * shape.n_segments * d * (n + 1)),
            4.0 * static_cast<double>(shape.n_segments * n * d),
            bench.error(out.device.slice(1, 0, h), expected),
            [&] { cross_attention(bench.context(), op); });
}

namespace {

// A family's use of the operation: B rows of n queries and keys.
struct DotProductCase {
  const char* name;
  std::int64_t n_rows, n, n_heads, n_key_heads, h, h_v;
  std::int64_t bias_rows = 1, bias_block = 1;
  float soft_cap = 0;
};

constexpr DotProductCase kDotProductCases[] = {
    {"dot product attention: triangle", 256, 256, 4, 4, 32, 32},
    {"dot product attention: windows", 1000, 144, 8, 8, 32, 32, 4},
    {"dot product attention: shared keys", 1, 1024, 8, 1, 128, 192, 1, 16, 5},
    {"dot product attention: pair bias", 1, 512, 16, 16, 24, 24},
};

void run(OpBench& bench, const DotProductCase& c) {
  if (!bench.wanted(c.name)) return;
  const std::int64_t n_blocks = (c.n + c.bias_block - 1) / c.bias_block;
  const BenchTensor q = bench.make({c.n_rows, c.n, c.n_heads, c.h}, 1, true),
                    k = bench.make({c.n_rows, c.n, c.n_key_heads, c.h}, 1, true),
                    v = bench.make({c.n_rows, c.n, c.n_key_heads, c.h_v}, 1, true),
                    bias = bench.make({c.bias_rows, c.n_heads, n_blocks, n_blocks}, 1, true),
                    out = bench.make({c.n_rows, c.n, c.n_heads, c.h_v}, 1, true);
  DotProductAttention op;
  op.q = q.device;
  op.k = k.device;
  op.v = v.device;
  op.scale = 1 / std::sqrt(static_cast<float>(c.h));
  op.bias = bias.device;
  op.bias_block = c.bias_block;
  op.soft_cap = c.soft_cap;
  op.out = out.device;
  dot_product_attention(bench.context(), op);
  // The reference computes the first queries of the first row.
  DotProductAttention first = op;
  const std::int64_t n_first = c.bias_block > 1 ? 1 : OpBench::kRows;
  first.q = q.host.slice(0, 0, 1).slice(1, 0, n_first);
  first.k = k.host.slice(0, 0, 1);
  first.v = v.host.slice(0, 0, 1);
  first.bias = bias.host.slice(0, 0, 1).slice(2, 0, n_first);
  std::vector<float> memory(static_cast<std::size_t>(n_first * c.n_heads * c.h_v));
  first.out = {memory.data(), DType::f32, {1, n_first, c.n_heads, c.h_v}};
  dot_product_attention(bench.reference(), first);
  const std::int64_t width = c.n_heads * c.h_v;
  const Tensor got(out.device.data, out.device.dtype, {n_first, width});
  const Tensor expected(memory.data(), DType::f32, {n_first, width});
  const auto pairs = static_cast<double>(c.n_rows * c.n * c.n * c.n_heads);
  const auto numbers = static_cast<double>(q.host.size() + k.host.size() + v.host.size() +
                                           out.host.size() + bias.host.size());
  bench.add(c.name,
            fmt::format("{} x {}, {} heads of {}, {} key heads, values of {}", c.n_rows, c.n,
                        c.n_heads, c.h, c.n_key_heads, c.h_v),
            bench.operand_bytes() * numbers, 2 * pairs * static_cast<double>(c.h + c.h_v),
            bench.error(got, expected), [&] { dot_product_attention(bench.context(), op); });
}

}  // namespace

// Shapes of their own: once, with the first shape of models.
void dot_product_attention_bench(OpBench& bench) {
  if (bench.shape().length != 256 || bench.shape().d != 320) return;
  for (const DotProductCase& c : kDotProductCases) run(bench, c);
}

void qkv_rotary_bench(OpBench& bench) {
  const char* const name = "gemm qkv + rotary";
  if (!bench.wanted(name)) return;
  constexpr std::int64_t kReferenceRows = 2;
  const std::int64_t d = bench.shape().d, t = bench.shape().n_rows(),
                     n_heads = bench.shape().n_heads;
  const BenchTensor x = bench.make({t, d}, 1, true), weight = bench.make({3 * d, d}, 0.05f, true);
  const BenchTensor bias = bench.make({3 * d}, 1, false), out = bench.make({t, 3 * d}, 1, true);
  const BenchTensor angles = bench.make({bench.shape().length, d / n_heads}, 1, false);
  const Linear linear = bench.context().upload_linear(weight.host, bias.host);
  const auto reference = make_reference_context();
  const Linear host = reference->upload_linear(weight.host, bias.host);
  const QkvRotary op{x.device,  &linear, n_heads, {angles.device}, bench.segments().positions,
                     out.device};
  qkv_rotary(bench.context(), op);
  std::vector<float> memory(static_cast<std::size_t>(kReferenceRows * 3 * d));
  const Tensor expected(memory.data(), DType::f32, {kReferenceRows, 3 * d});
  std::vector<std::int32_t> positions{0, 1};
  qkv_rotary(*reference, {x.host_rows(kReferenceRows),
                          &host,
                          n_heads,
                          {angles.host},
                          Tensor(positions.data(), DType::i32, {kReferenceRows}),
                          expected});
  const auto m = static_cast<double>(t), k = static_cast<double>(d);
  bench.add(name, fmt::format("{} x {} x {}", t, 3 * d, d),
            bench.operand_bytes() * (m * k + 3 * k * k + 3 * m * k), 6 * m * k * k,
            bench.error(out.device, expected), [&] { qkv_rotary(bench.context(), op); });
  bench.context().synchronize();
}

// Enformer's heads over the batch of the shape.
void relative_attention_bench(OpBench& bench) {
  if (!bench.wanted("relative attention")) return;
  constexpr std::int64_t kHeads = 8, kKey = 64, kValue = 192, kWidth = kHeads * (2 * kKey + kValue);
  const std::int64_t n = bench.shape().length, t = bench.shape().n_rows();
  const BenchTensor qkv = bench.make({t, kWidth}, 0.7f, true);
  const BenchTensor content = bench.make({kHeads, kKey}, 0.7f, false),
                    position = bench.make({kHeads, kKey}, 0.7f, false),
                    relative = bench.make({kHeads, 2 * n - 1, kKey}, 0.7f, true),
                    out = bench.make({t, kHeads * kValue}, 1, true);
  const auto part = [&](const Tensor& all, std::int64_t begin, std::int64_t width,
                        std::int64_t n_heads) {
    return tensor::split_heads(all.slice(1, begin, begin + n_heads * width), n_heads);
  };
  const auto operation = [&](auto side, std::int64_t n_heads, const Ragged& segments,
                             const Tensor& to) -> RelativeAttention {
    return {part(side(qkv), 0, kKey, n_heads),
            part(side(qkv), kHeads * kKey, kKey, n_heads),
            part(side(qkv), 2 * kHeads * kKey, kValue, n_heads),
            side(content),
            side(position),
            side(relative),
            &segments,
            to};
  };
  const RelativeAttention op = operation([](const BenchTensor& x) { return x.device; }, kHeads,
                                         bench.segments(), out.device);
  relative_attention(bench.context(), op);
  // The reference computes the first head of the first segment.
  const Ragged first = OpBench::one_segment(n);
  std::vector<float> memory(static_cast<std::size_t>(n * kValue));
  const Tensor expected(memory.data(), DType::f32, {n, kValue});
  relative_attention(bench.reference(),
                     operation([](const BenchTensor& x) { return x.host; }, 1, first, expected));
  const auto pairs = static_cast<double>(bench.shape().n_segments * n * n * kHeads);
  const double bytes = bench.operand_bytes() * static_cast<double>(t * (kWidth + kHeads * kValue) +
                                                                   kHeads * (2 * n - 1) * kKey);
  bench.add("relative attention",
            fmt::format("{} x {}, {} heads of {} and {}", bench.shape().n_segments, n, kHeads, kKey,
                        kValue),
            bytes, pairs * static_cast<double>(2 * (2 * kKey + kValue)),
            bench.error(out.device.slice(1, 0, kValue), expected),
            [&] { relative_attention(bench.context(), op); });
}

// Rotated again and again, numbers keep their size: the table has cosines and sines of angles.
void rotate_heads_bench(OpBench& bench) {
  if (!bench.wanted("rotate heads")) return;
  const std::int64_t t = bench.shape().n_rows(), n_heads = bench.shape().n_heads,
                     d = bench.shape().d, h = d / n_heads;
  const BenchTensor x = bench.make({t, d}, 1, true);
  BenchTensor angles = bench.make({bench.shape().length, h}, 1, false);
  for (std::int64_t i = 0; i < bench.shape().length; ++i)
    for (std::int64_t k = 0; k < h / 2; ++k) {
      float* const row = angles.values.data() + i * h;
      const float sine = row[k];
      row[k] = std::sqrt(1 - sine * sine);
      row[h / 2 + k] = sine;
    }
  bench.context().copy_in(angles.device, angles.values.data());
  const auto heads = [&](const Tensor& of) { return tensor::split_heads(of, n_heads); };
  const RotateHeads op{heads(x.device), {angles.device}, bench.segments().positions};
  rotate_heads(bench.context(), op);
  std::vector<std::int32_t> positions(OpBench::kRows);
  for (std::size_t i = 0; i < positions.size(); ++i) positions[i] = static_cast<std::int32_t>(i);
  const Tensor expected = x.host_rows(OpBench::kRows);
  rotate_heads(
      bench.reference(),
      {heads(expected), {angles.host}, Tensor(positions.data(), DType::i32, {OpBench::kRows})});
  const auto numbers = static_cast<double>(t * d);
  bench.add("rotate heads", fmt::format("{} x {}", t, d), 2 * bench.operand_bytes() * numbers,
            3 * numbers, bench.error(x.device, expected),
            [&] { rotate_heads(bench.context(), op); });
  bench.context().synchronize();
}

}  // namespace biogpu::ops
