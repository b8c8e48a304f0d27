#include <fmt/format.h>

#include "lib/ops/attention/qkv_rotary.hpp"
#include "lib/ops/bench/op_bench.hpp"

namespace biogpu::ops {

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

}  // namespace biogpu::ops
