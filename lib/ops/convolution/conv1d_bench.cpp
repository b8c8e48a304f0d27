#include "lib/ops/convolution/conv1d.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lib/ops/bench/op_bench.hpp"

namespace biogpu::ops {
namespace {

// What a convolution block of a DNA model computes: with several taps y and what the next layer
// reads, with one tap a residual too.
void convolution(OpBench& bench, const char* name, std::int64_t taps) {
  if (!bench.wanted(name)) return;
  constexpr std::int64_t kReferenceRows = 2;
  const std::int64_t t = bench.shape().n_rows(), d = bench.shape().d, n_in = taps * d;
  const BenchTensor x = bench.make({t, d}, 1, true), weight = bench.make({d, n_in}, 0.05f, true);
  const BenchTensor bias = bench.make({d}, 1, false), scale = bench.make({d}, 1, false);
  const BenchTensor before = taps == 1 ? bench.make({t, d}, 1, false) : BenchTensor{};
  const BenchTensor out = bench.make({t, d}, 1, false), next = bench.make({t, d}, 1, true);
  const Linear linear = bench.context().upload_linear(weight.host, bias.host);
  const Linear host = bench.reference().upload_linear(weight.host, bias.host);
  const Conv1d op{x.device,
                  &linear,
                  taps,
                  1,
                  &bench.segments(),
                  nullptr,
                  before.device,
                  out.device,
                  {scale.device, bias.device, Activation::gelu_sigmoid, next.device}};
  conv1d(bench.context(), op);
  // The reference has enough rows for whole windows of those that are compared.
  const Ragged rows = OpBench::one_segment(kReferenceRows + taps);
  std::vector<float> more(static_cast<std::size_t>(2 * rows.n_rows * d));
  const Tensor all(more.data(), DType::f32, {rows.n_rows, d});
  const Tensor all_next(more.data() + rows.n_rows * d, DType::f32, {rows.n_rows, d});
  conv1d(bench.reference(), {x.host_rows(rows.n_rows),
                             &host,
                             taps,
                             1,
                             &rows,
                             nullptr,
                             taps == 1 ? before.host_rows(rows.n_rows) : Tensor(),
                             all,
                             {scale.host, bias.host, Activation::gelu_sigmoid, all_next}});
  const double error = std::max(bench.error(out.device, all.slice(0, 0, kReferenceRows)),
                                bench.error(next.device, all_next.slice(0, 0, kReferenceRows)));
  const double operand = bench.operand_bytes();
  const auto numbers = static_cast<double>(t * d);
  bench.add(name, fmt::format("{} x {} x {}", t, d, n_in),
            numbers * (2 * operand + (taps == 1 ? 8 : 4)) + operand * static_cast<double>(d * n_in),
            2 * numbers * static_cast<double>(n_in), error, [&] { conv1d(bench.context(), op); });
  bench.context().synchronize();
}

}  // namespace

void conv1d_bench(OpBench& bench) {
  convolution(bench, "conv1d of 5 taps", 5);
  convolution(bench, "conv1d of 1 tap + residual", 1);
}

}  // namespace biogpu::ops
