#include "lib/ops/elementwise/map.hpp"

#include <fmt/format.h>

#include "lib/ops/bench/op_bench.hpp"

namespace biogpu::ops {
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

}  // namespace biogpu::ops
