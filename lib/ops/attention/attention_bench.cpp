#include <fmt/format.h>

#include <cmath>

#include "lib/ops/attention/attention.hpp"
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

}  // namespace biogpu::ops
