// The operations of this family at the shapes of models.
#include <fmt/format.h>

#include <algorithm>

#include "lib/ops/bench/op_bench.hpp"
#include "lib/ops/convolution/conv1d.hpp"
#include "lib/ops/convolution/conv1d_letters.hpp"
#include "lib/ops/convolution/depthwise_conv1d.hpp"

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

void conv1d_letters_bench(OpBench& bench) {
  if (!bench.wanted("conv1d of letters")) return;
  constexpr std::int64_t kTaps = 15;
  const std::int64_t t = bench.shape().n_rows(), d = bench.shape().d;
  std::vector<std::uint8_t> codes(static_cast<std::size_t>(t));
  for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<std::uint8_t>(i * 7 % 5);
  const Tensor host(codes.data(), DType::u8, {t});
  const Tensor letters(bench.context().allocate(codes.size()), DType::u8, {t});
  bench.context().copy_in(letters, codes.data());
  const BenchTensor table = bench.make({kTaps, kLetterCodes, d}, 1, false);
  const BenchTensor bias = bench.make({d}, 1, false), scale = bench.make({d}, 1, false);
  const BenchTensor out = bench.make({t, d}, 1, false), next = bench.make({t, d}, 1, true);
  const Conv1dLetters op{
      letters,     table.device,
      bias.device, &bench.segments(),
      out.device,  {scale.device, bias.device, Activation::gelu_sigmoid, next.device}};
  conv1d_letters(bench.context(), op);
  const Ragged rows = OpBench::one_segment(OpBench::kRows + kTaps);
  std::vector<float> memory(static_cast<std::size_t>(2 * rows.n_rows * d));
  const Tensor expected(memory.data(), DType::f32, {rows.n_rows, d});
  const Tensor expected_next(memory.data() + rows.n_rows * d, DType::f32, {rows.n_rows, d});
  conv1d_letters(bench.reference(),
                 {host.slice(0, 0, rows.n_rows),
                  table.host,
                  bias.host,
                  &rows,
                  expected,
                  {scale.host, bias.host, Activation::gelu_sigmoid, expected_next}});
  const double error =
      std::max(bench.error(out.device, expected.slice(0, 0, OpBench::kRows)),
               bench.error(next.device, expected_next.slice(0, 0, OpBench::kRows)));
  const auto numbers = static_cast<double>(t * d);
  bench.add("conv1d of letters", fmt::format("{} x {}, {} taps", t, d, kTaps),
            (4 + bench.operand_bytes()) * numbers, kTaps * numbers, error,
            [&] { conv1d_letters(bench.context(), op); });
  bench.context().synchronize();
  bench.context().release(letters.data);
}

void depthwise_conv1d_bench(OpBench& bench) {
  const char* const name = "depthwise conv1d of 3 taps";
  if (!bench.wanted(name)) return;
  constexpr std::int64_t kTaps = 3;
  const std::int64_t d = bench.shape().d, t = bench.shape().n_rows();
  const BenchTensor x = bench.make({t, d}, 1, true), weight = bench.make({kTaps, d}, 1, false),
                    out = bench.make({t, d}, 1, true);
  const DepthwiseConv1d op{x.device, weight.device, &bench.segments(), out.device, {}};
  depthwise_conv1d(bench.context(), op);
  // The reference has enough rows for whole windows of those that are compared.
  const Ragged rows = OpBench::one_segment(OpBench::kRows + kTaps);
  std::vector<float> memory(static_cast<std::size_t>(rows.n_rows * d));
  const Tensor expected(memory.data(), DType::f32, {rows.n_rows, d});
  depthwise_conv1d(bench.reference(), {x.host_rows(rows.n_rows), weight.host, &rows, expected, {}});
  const auto numbers = static_cast<double>(t * d);
  bench.add(name, fmt::format("{} x {}", t, d), 2 * bench.operand_bytes() * numbers,
            2 * kTaps * numbers, bench.error(out.device, expected.slice(0, 0, OpBench::kRows)),
            [&] { depthwise_conv1d(bench.context(), op); });
  bench.context().synchronize();
}

}  // namespace biogpu::ops
