#include <algorithm>

#include "lib/core/error.hpp"
#include "lib/ops/cpu/cpu_context.hpp"
#include "lib/ops/triangle/triangle_product_steps.hpp"

namespace biogpu::ops {

std::size_t triangle_workspace(std::int64_t n, std::int64_t c, std::int64_t d, DType operand) {
  const auto bytes = [](std::int64_t count, DType dtype) {
    return WorkspaceCutter::padded(static_cast<std::size_t>(count) * tensor::bytes_of(dtype));
  };
  const std::int64_t pairs = n * n;
  const std::size_t by_steps =
      bytes(pairs * (4 * d + c), operand) +
      std::max(bytes(pairs * c, operand), bytes(pairs * d, DType::f32) + bytes(pairs * d, operand) +
                                              bytes(pairs * c, operand));
  // Hopper's kernels need sides and sums with padded rows, and folded weights.
  const std::int64_t padded = n * ((n + 7) / 8 * 8);
  const std::size_t folded = bytes(2 * padded * d, operand) + bytes(padded * d, operand) +
                             bytes(c * d, operand) + bytes(2 * c, DType::f32);
  return std::max(by_steps, folded);
}

namespace {

struct RunOnCpu {
  CpuContext& context;
  void operator()(const AddLayerNorm& op) const { add_layer_norm_cpu(context, op); }
  void operator()(const Gemm& op) const { gemm_cpu(context, op); }
  void operator()(const Map& op) const { map_cpu(context, op); }
  void operator()(const Matmul& op) const { matmul_cpu(context, op); }
};

}  // namespace

void triangle_product_cpu(CpuContext& context, const TriangleProduct& op) {
  if (!triangle_product_steps(op, DType::f32, RunOnCpu{context}))
    throw Error(ErrorCode::failed, "triangle_product: the workspace is too small");
}

}  // namespace biogpu::ops
