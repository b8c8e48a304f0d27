// Triangle multiplication at the shapes of structure models.
#include <fmt/format.h>

#include "lib/ops/bench/op_bench.hpp"
#include "lib/ops/triangle/triangle_product.hpp"

namespace biogpu::ops {
namespace {

struct Inputs {
  BenchTensor z, mask, out, weights[4], projections, map_out;
};

TriangleProduct product_of(const Inputs& inputs, bool on_device, const Linear& projections,
                           const Linear& map_out) {
  const auto of = [&](const BenchTensor& x) { return on_device ? x.device : x.host; };
  TriangleProduct op;
  op.z = of(inputs.z);
  op.mask = of(inputs.mask);
  op.norm_in = {of(inputs.weights[0]), of(inputs.weights[1]), 1e-5f};
  op.norm_out = {of(inputs.weights[2]), of(inputs.weights[3]), 1e-5f};
  op.projections = &projections;
  op.map_out = &map_out;
  op.residual = Tensor(op.z.data, op.z.dtype, {op.z.shape[0] * op.z.shape[1], op.z.shape[2]});
  op.out = of(inputs.out);
  return op;
}

}  // namespace

// At shapes of its own, once. The reference computes few tokens of them: those of the smallest.
void triangle_product_bench(OpBench& bench) {
  const char* const name = "triangle_product";
  if (!bench.wanted(name) || bench.shape().n_segments > 1 || bench.shape().stream_of_operands)
    return;
  constexpr std::int64_t kChecked = 16, c = 128;
  double error = 0;
  for (const std::int64_t n : {kChecked, std::int64_t{128}, std::int64_t{256}}) {
    Inputs inputs = {bench.make({n, n, c}, 1, false),
                     bench.make({n, n}, 1, false),
                     bench.make({n * n, c}, 1, false),
                     {bench.make({c}, 1, false), bench.make({c}, 1, false),
                      bench.make({c}, 1, false), bench.make({c}, 1, false)},
                     bench.make({5 * c, c}, 0.1f, true),
                     bench.make({c, c}, 0.1f, true)};
    tensor::Context& context = bench.context();
    const Linear projections = context.upload_linear(inputs.projections.host, {}),
                 map_out = context.upload_linear(inputs.map_out.host, {});
    TriangleProduct op = product_of(inputs, true, projections, map_out);
    const auto bytes =
        static_cast<std::int64_t>(triangle_workspace(n, c, c, context.compute_dtype()));
    op.workspace = bench.make({bytes / 4}, 1, false).device;
    triangle_product(context, op);
    if (n == kChecked) {
      const auto reference = make_reference_context();
      const Linear host_projections = reference->upload_linear(inputs.projections.host, {}),
                   host_map_out = reference->upload_linear(inputs.map_out.host, {});
      const TriangleProduct right = product_of(inputs, false, host_projections, host_map_out);
      triangle_product(*reference, right);
      error = bench.error(op.out, right.out);
      continue;
    }
    const auto pairs = static_cast<double>(n * n), width = static_cast<double>(c);
    bench.add(name, fmt::format("{} x {} x {}", n, n, c), 12 * pairs * width,
              12 * pairs * width * width + 2 * pairs * static_cast<double>(n) * width, error,
              [&] { triangle_product(context, op); });
    context.synchronize();
  }
}

}  // namespace biogpu::ops
