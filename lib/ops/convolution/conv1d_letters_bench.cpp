#include "lib/ops/convolution/conv1d_letters.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lib/ops/bench/op_bench.hpp"

namespace biogpu::ops {

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

}  // namespace biogpu::ops
