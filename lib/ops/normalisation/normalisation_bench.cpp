// The operations of this family at the shapes of models.
#include <fmt/format.h>

#include <algorithm>

#include "lib/ops/bench/op_bench.hpp"
#include "lib/ops/normalisation/add_layer_norm.hpp"
#include "lib/ops/normalisation/layer_norm_grad.hpp"
#include "lib/ops/normalisation/log_softmax.hpp"
#include "lib/ops/normalisation/softmax.hpp"

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

void layer_norm_grad_bench(OpBench& bench) {
  if (!bench.wanted("norm gradient")) return;
  const std::int64_t d = bench.shape().d, t = bench.shape().n_rows(), n = OpBench::kRows;
  const BenchTensor x = bench.make({t, d}, 1, false), weight = bench.make({d}, 1, false),
                    d_out = bench.make({t, d}, 1, false), d_x = bench.make({t, d}, 1, false);
  const LayerNormGrad op{x.device, {weight.device, {}}, d_out.device, d_x.device};
  layer_norm_grad(bench.context(), op);
  std::vector<float> memory(static_cast<std::size_t>(n * d));
  const Tensor expected(memory.data(), DType::f32, {n, d});
  layer_norm_grad(bench.reference(),
                  {x.host_rows(n), {weight.host, {}}, d_out.host_rows(n), expected});
  const auto numbers = static_cast<double>(t * d);
  bench.add("norm gradient", fmt::format("{} x {}", t, d), 12 * numbers, 14 * numbers,
            bench.error(d_x.device, expected), [&] { layer_norm_grad(bench.context(), op); });
}

void log_softmax_bench(OpBench& bench) {
  if (!bench.wanted("log softmax")) return;
  // In place; applied to its result it gives the same again, so it can be repeated.
  const std::int64_t t = bench.shape().n_rows(), n = OpBench::kRows, v = OpBench::kTokens;
  const BenchTensor x = bench.make({t, v}, 10, false);
  log_softmax(bench.context(), {x.device});
  std::vector<float> memory(x.values.begin(), x.values.begin() + n * v);
  const Tensor expected(memory.data(), DType::f32, {n, v});
  log_softmax(bench.reference(), {expected});
  const auto numbers = static_cast<double>(t * v);
  bench.add("log softmax", fmt::format("{} x {}", t, v), 8 * numbers, 5 * numbers,
            bench.error(x.device, expected), [&] { log_softmax(bench.context(), {x.device}); });
}

void softmax_bench(OpBench& bench) {
  if (!bench.wanted("softmax")) return;
  const std::int64_t d = bench.shape().d, t = bench.shape().n_rows(), n = OpBench::kRows;
  const BenchTensor x = bench.make({t, d}, 10, true), out = bench.make({t, d}, 1, true);
  Softmax op;
  op.x = x.device;
  op.axis = 1;
  op.out = out.device;
  softmax(bench.context(), op);
  std::vector<float> memory(static_cast<std::size_t>(n * d));
  const Tensor expected(memory.data(), DType::f32, {n, d});
  Softmax host = op;
  host.x = x.host_rows(n);
  host.out = expected;
  softmax(bench.reference(), host);
  const auto numbers = static_cast<double>(t * d);
  bench.add("softmax", fmt::format("{} x {}", t, d), 2 * bench.operand_bytes() * numbers,
            5 * numbers, bench.error(out.device, expected), [&] { softmax(bench.context(), op); });
}

}  // namespace biogpu::ops
