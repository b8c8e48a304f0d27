#include <fmt/format.h>

#include <cmath>

#include "lib/ops/attention/dot_product_attention.hpp"
#include "lib/ops/bench/op_bench.hpp"

namespace biogpu::ops {
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

}  // namespace biogpu::ops
