#include <fmt/format.h>

#include <algorithm>

#include "lib/ops/bench/op_bench.hpp"
#include "lib/ops/normalisation/add_layer_norm.hpp"

namespace biogpu::ops {

void add_layer_norm_bench(OpBench& bench) {
  const bool first = bench.wanted("norm + cast"), second = bench.wanted("add + norm + cast");
  if (!first && !second) return;
  const std::int64_t d = bench.shape().d, t = bench.shape().n_rows(), n = OpBench::kRows;
  const auto numbers = static_cast<double>(t * d);
  const double wide = 4 * numbers, operand = bench.operand_bytes() * numbers;
  const std::string shape = fmt::format("{} x {}", t, d);
  const BenchTensor weight = bench.make({d}, 1, false), bias = bench.make({d}, 1, false);
  const Norm norm{weight.device, bias.device, 1e-5f}, host_norm{weight.host, bias.host, 1e-5f};
  const BenchTensor x = bench.make({t, d}, 1, false), out = bench.make({t, d}, 1, true);
  std::vector<float> memory(static_cast<std::size_t>(2 * n * d));
  const Tensor rows(memory.data(), DType::f32, {2 * n, d});
  const Tensor its_sum = rows.slice(0, 0, n), its_out = rows.slice(0, n, 2 * n);
  if (first) {
    const bool narrow = bench.shape().stream_of_operands;
    const BenchTensor stream = narrow ? bench.make({t, d}, 1, true) : x;
    const AddLayerNorm op{stream.device, {}, norm, {}, {}, out.device};
    add_layer_norm(bench.context(), op);
    add_layer_norm(bench.reference(), {stream.host_rows(n), {}, host_norm, {}, its_out, {}});
    bench.add("norm + cast", shape, (narrow ? operand : wide) + operand, 8 * numbers,
              bench.error(out.device, its_out), [&] { add_layer_norm(bench.context(), op); });
  }
  if (second) {
    const BenchTensor y = bench.make({t, d}, 1, true), sum = bench.make({t, d}, 1, false);
    const AddLayerNorm op{x.device, y.device, norm, sum.device, {}, out.device};
    add_layer_norm(bench.context(), op);
    add_layer_norm(bench.reference(),
                   {x.host_rows(n), y.host_rows(n), host_norm, its_sum, its_out, {}});
    const double its_error =
        std::max(bench.error(sum.device, its_sum), bench.error(out.device, its_out));
    bench.add("add + norm + cast", shape, 2 * wide + 2 * operand, 9 * numbers, its_error,
              [&] { add_layer_norm(bench.context(), op); });
  }
}

}  // namespace biogpu::ops
