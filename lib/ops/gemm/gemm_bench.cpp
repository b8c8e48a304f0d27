#include <fmt/format.h>

#include "lib/ops/bench/op_bench.hpp"
#include "lib/ops/gemm/gemm.hpp"

namespace biogpu::ops {
namespace {

void product(OpBench& bench, const char* name, std::int64_t n_in, std::int64_t n_out,
             Activation activation, bool residual) {
  if (!bench.wanted(name)) return;
  constexpr std::int64_t kReferenceRows = 2;
  const std::int64_t t = bench.shape().n_rows();
  const bool narrow = residual && bench.shape().stream_of_operands;
  const bool wide = (residual && !narrow) || n_out == OpBench::kTokens;
  const BenchTensor x = bench.make({t, n_in}, 1, true);
  const BenchTensor weight = bench.make({n_out, n_in}, 0.05f, true);
  const BenchTensor bias = bench.make({n_out}, 1, false), out = bench.make({t, n_out}, 1, !wide);
  const Linear linear = bench.context().upload_linear(weight.host, bias.host);
  const auto reference = make_reference_context();
  const Linear host = reference->upload_linear(weight.host, bias.host);
  std::vector<float> memory(static_cast<std::size_t>(kReferenceRows * n_out));
  const Tensor expected(memory.data(), DType::f32, {kReferenceRows, n_out});
  // The residual is another tensor than the sum, or repeated runs would add to it.
  const BenchTensor before = residual ? bench.make({t, n_out}, 1, narrow) : BenchTensor{};
  const Gemm op{x.device, &linear, activation, before.device, out.device};
  gemm(bench.context(), op);
  gemm(*reference, {x.host_rows(kReferenceRows), &host, activation,
                    residual ? before.host_rows(kReferenceRows) : Tensor(), expected});
  const double operand = bench.operand_bytes();
  const auto m = static_cast<double>(t), n = static_cast<double>(n_out),
             k = static_cast<double>(n_in);
  bench.add(name, fmt::format("{} x {} x {}", t, n_out, n_in),
            operand * (m * k + n * k) + (wide ? 4 : operand) * m * n * (residual ? 2 : 1),
            2 * m * n * k, bench.error(out.device, expected), [&] { gemm(bench.context(), op); });
  bench.context().synchronize();
}

}  // namespace

void gemm_bench(OpBench& bench) {
  const std::int64_t d = bench.shape().d;
  product(bench, "gemm + bias + residual", d, d, Activation::none, true);
  product(bench, "gemm + bias + gelu", d, 4 * d, Activation::gelu_erf, false);
  product(bench, "gemm + bias + residual", 4 * d, d, Activation::none, true);
  product(bench, "gemm words", d, OpBench::kTokens, Activation::none, false);
}

}  // namespace biogpu::ops
