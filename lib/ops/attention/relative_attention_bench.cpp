#include <fmt/format.h>

#include <string>

#include "lib/ops/attention/relative_attention.hpp"
#include "lib/ops/bench/op_bench.hpp"

namespace biogpu::ops {

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

}  // namespace biogpu::ops
