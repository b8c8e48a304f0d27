#include "lib/ops/attention/rotate_heads.hpp"

#include <fmt/format.h>

#include <cmath>

#include "lib/ops/bench/op_bench.hpp"

namespace biogpu::ops {

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
