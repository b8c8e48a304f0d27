#include "lib/ops/attention/cross_attention.hpp"

#include <fmt/format.h>

#include <cmath>

#include "lib/ops/bench/op_bench.hpp"

namespace biogpu::ops {

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

}  // namespace biogpu::ops
