// The operations of this family at the shapes of models.
#include <fmt/format.h>

#include <algorithm>

#include "lib/ops/bench/op_bench.hpp"
#include "lib/ops/elementwise/fill_zero.hpp"
#include "lib/ops/elementwise/map.hpp"
#include "lib/ops/elementwise/row_scale.hpp"
#include "lib/ops/elementwise/sigmoid_gate.hpp"
#include "lib/ops/elementwise/silu.hpp"
#include "lib/ops/elementwise/silu_grad.hpp"

namespace biogpu::ops {

void fill_zero_bench(OpBench& bench) {
  if (!bench.wanted("fill zero")) return;
  const std::int64_t d = bench.shape().d, t = bench.shape().n_rows();
  const BenchTensor x = bench.make({t, d}, 1, false);
  const auto numbers = static_cast<double>(t * d);
  fill_zero(bench.context(), {x.device});
  // Zeros have no root mean square that an error could be relative to: a sum with 1 has.
  std::vector<float> first(static_cast<std::size_t>(d));
  bench.context().copy_out(first.data(), x.device.slice(0, t - 1, t));
  bench.context().synchronize();
  double its_error = 0;
  for (const float value : first) its_error += value == 0 ? 0 : 1;
  bench.add("fill zero", fmt::format("{} x {}", t, d), 4 * numbers, 0, its_error,
            [&] { fill_zero(bench.context(), {x.device}); });
}

namespace {

// forms(x, y, scale, shift, out): the operation.
template <class Form>
void time_map(OpBench& bench, const char* name, double n_tensors, double operations,
              const Form& form) {
  if (!bench.wanted(name)) return;
  const std::int64_t d = bench.shape().d, t = bench.shape().n_rows(), n = OpBench::kRows;
  const BenchTensor x = bench.make({t, d}, 1, true), y = bench.make({t, d}, 1, true);
  const BenchTensor scale = bench.make({d}, 1, false), shift = bench.make({d}, 1, false);
  const BenchTensor out = bench.make({t, d}, 1, true);
  const Map op = form(x.device, y.device, scale.device, shift.device, out.device);
  map(bench.context(), op);
  std::vector<float> memory(static_cast<std::size_t>(n * d));
  const Tensor expected(memory.data(), DType::f32, {n, d});
  map(bench.reference(), form(x.host_rows(n), y.host_rows(n), scale.host, shift.host, expected));
  const auto numbers = static_cast<double>(t * d);
  bench.add(name, fmt::format("{} x {}", t, d), n_tensors * bench.operand_bytes() * numbers,
            operations * numbers, bench.error(out.device, expected),
            [&] { map(bench.context(), op); });
}

}  // namespace

void map_bench(OpBench& bench) {
  time_map(bench, "map: add", 3, 1,
           [](const Tensor& x, const Tensor& y, const Tensor&, const Tensor&, const Tensor& out) {
             return map_add(x, y, out);
           });
  time_map(bench, "map: SwiGLU", 3, 5,
           [](const Tensor& x, const Tensor& y, const Tensor&, const Tensor&, const Tensor& out) {
             return map_glu(MapCode::silu, x, y, out);
           });
  time_map(bench, "map: scale and shift", 2, 2,
           [](const Tensor& x, const Tensor&, const Tensor& scale, const Tensor& shift,
              const Tensor& out) { return map_scale_shift(x, scale, shift, out); });
}

void row_scale_bench(OpBench& bench) {
  if (!bench.wanted("row scale")) return;
  const std::int64_t d = bench.shape().d, t = bench.shape().n_rows(), n = OpBench::kRows;
  const BenchTensor x = bench.make({t, d}, 1, false), scale = bench.make({t}, 1, false),
                    out = bench.make({t, d}, 1, false);
  const RowScale op{x.device, scale.device, out.device};
  row_scale(bench.context(), op);
  std::vector<float> memory(static_cast<std::size_t>(n * d));
  const Tensor expected(memory.data(), DType::f32, {n, d});
  row_scale(bench.reference(), {x.host_rows(n), scale.host, expected});
  const auto numbers = static_cast<double>(t * d);
  bench.add("row scale", fmt::format("{} x {}", t, d), 8 * numbers, numbers,
            bench.error(out.device, expected), [&] { row_scale(bench.context(), op); });
}

void row_scale_grad_bench(OpBench& bench) {
  if (!bench.wanted("row scale gradient")) return;
  const std::int64_t d = bench.shape().d, t = bench.shape().n_rows(), n = OpBench::kRows;
  const BenchTensor x = bench.make({t, d}, 1, false), scale = bench.make({t}, 1, false),
                    d_out = bench.make({t, d}, 1, false), d_x = bench.make({t, d}, 1, false),
                    d_scale = bench.make({t, 1}, 1, false);
  const RowScaleGrad op{x.device, scale.device, d_out.device, d_x.device, d_scale.device};
  row_scale_grad(bench.context(), op);
  std::vector<float> memory(static_cast<std::size_t>(n * d)), sums(static_cast<std::size_t>(n));
  const Tensor its_x(memory.data(), DType::f32, {n, d}), its_scale(sums.data(), DType::f32, {n, 1});
  row_scale_grad(bench.reference(),
                 {x.host_rows(n), scale.host, d_out.host_rows(n), its_x, its_scale});
  const auto numbers = static_cast<double>(t * d);
  bench.add("row scale gradient", fmt::format("{} x {}", t, d), 12 * numbers, 3 * numbers,
            std::max(bench.error(d_x.device, its_x), bench.error(d_scale.device, its_scale)),
            [&] { row_scale_grad(bench.context(), op); });
}

void sigmoid_gate_bench(OpBench& bench) {
  if (!bench.wanted("sigmoid gate")) return;
  const std::int64_t d = bench.shape().d, t = bench.shape().n_rows(), n = OpBench::kRows;
  const BenchTensor x = bench.make({t, d}, 1, false), gate = bench.make({t, d}, 3, false),
                    out = bench.make({t, d}, 1, false);
  const SigmoidGate op{x.device, gate.device, out.device};
  sigmoid_gate(bench.context(), op);
  std::vector<float> memory(static_cast<std::size_t>(n * d));
  const Tensor expected(memory.data(), DType::f32, {n, d});
  sigmoid_gate(bench.reference(), {x.host_rows(n), gate.host_rows(n), expected});
  const auto numbers = static_cast<double>(t * d);
  bench.add("sigmoid gate", fmt::format("{} x {}", t, d), 12 * numbers, 4 * numbers,
            bench.error(out.device, expected), [&] { sigmoid_gate(bench.context(), op); });
}

void sigmoid_gate_grad_bench(OpBench& bench) {
  if (!bench.wanted("sigmoid gate gradient")) return;
  const std::int64_t d = bench.shape().d, t = bench.shape().n_rows(), n = OpBench::kRows;
  const BenchTensor x = bench.make({t, d}, 1, false), gate = bench.make({t, d}, 3, false),
                    d_out = bench.make({t, d}, 1, false), d_x = bench.make({t, d}, 1, false),
                    d_gate = bench.make({t, d}, 1, false);
  const SigmoidGateGrad op{x.device, gate.device, d_out.device, d_x.device, d_gate.device};
  sigmoid_gate_grad(bench.context(), op);
  std::vector<float> memory(static_cast<std::size_t>(2 * n * d));
  const Tensor rows(memory.data(), DType::f32, {2 * n, d});
  const Tensor its_x = rows.slice(0, 0, n), its_gate = rows.slice(0, n, 2 * n);
  sigmoid_gate_grad(bench.reference(),
                    {x.host_rows(n), gate.host_rows(n), d_out.host_rows(n), its_x, its_gate});
  const auto numbers = static_cast<double>(t * d);
  bench.add("sigmoid gate gradient", fmt::format("{} x {}", t, d), 20 * numbers, 7 * numbers,
            std::max(bench.error(d_x.device, its_x), bench.error(d_gate.device, its_gate)),
            [&] { sigmoid_gate_grad(bench.context(), op); });
}

void silu_bench(OpBench& bench) {
  if (!bench.wanted("silu")) return;
  const std::int64_t d = bench.shape().d, t = bench.shape().n_rows(), n = OpBench::kRows;
  const BenchTensor x = bench.make({t, d}, 3, false), out = bench.make({t, d}, 1, true);
  const Silu op{x.device, out.device};
  silu(bench.context(), op);
  std::vector<float> memory(static_cast<std::size_t>(n * d));
  const Tensor expected(memory.data(), DType::f32, {n, d});
  silu(bench.reference(), {x.host_rows(n), expected});
  const auto numbers = static_cast<double>(t * d);
  bench.add("silu", fmt::format("{} x {}", t, d), (4 + bench.operand_bytes()) * numbers,
            4 * numbers, bench.error(out.device, expected), [&] { silu(bench.context(), op); });
}

void silu_grad_bench(OpBench& bench) {
  if (!bench.wanted("silu gradient")) return;
  const std::int64_t d = bench.shape().d, t = bench.shape().n_rows(), n = OpBench::kRows;
  const BenchTensor x = bench.make({t, d}, 3, false), d_out = bench.make({t, d}, 1, false);
  const BenchTensor d_x = bench.make({t, d}, 1, true);
  const SiluGrad op{x.device, d_out.device, d_x.device};
  silu_grad(bench.context(), op);
  std::vector<float> memory(static_cast<std::size_t>(n * d));
  const Tensor expected(memory.data(), DType::f32, {n, d});
  silu_grad(bench.reference(), {x.host_rows(n), d_out.host_rows(n), expected});
  const auto numbers = static_cast<double>(t * d);
  bench.add("silu gradient", fmt::format("{} x {}", t, d), (8 + bench.operand_bytes()) * numbers,
            8 * numbers, bench.error(d_x.device, expected),
            [&] { silu_grad(bench.context(), op); });
}

}  // namespace biogpu::ops
