#pragma once

// Triangle multiplication by other operations: what contexts without kernels of their own do.

#include <algorithm>
#include <initializer_list>

#include "lib/ops/elementwise/map.hpp"
#include "lib/ops/gemm/gemm.hpp"
#include "lib/ops/gemm/matmul.hpp"
#include "lib/ops/normalisation/add_layer_norm.hpp"
#include "lib/ops/triangle/triangle_product.hpp"

namespace biogpu::ops {

// Tensors one behind the other in an operation's memory.
class WorkspaceCutter {
 public:
  explicit WorkspaceCutter(const Tensor& workspace)
      : next_(static_cast<char*>(workspace.data)), n_left_(workspace.bytes()) {}

  static constexpr std::size_t kAlignment = 256;
  static std::size_t padded(std::size_t bytes) {
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }
  Tensor take(DType dtype, std::initializer_list<std::int64_t> shape) {
    const Tensor taken(next_, dtype, shape);
    const std::size_t bytes = padded(taken.bytes());
    has_room_ = has_room_ && bytes <= n_left_;
    n_left_ -= std::min(bytes, n_left_);
    next_ += bytes;
    return taken;
  }
  // Whether all that was taken lies inside.
  bool has_room() const { return has_room_; }

 private:
  char* next_;
  std::size_t n_left_;
  bool has_room_ = true;
};

// Rows of n * n pairs (i, j) as matrices [i, j] for each channel, or [j, i].
inline Tensor pairs_by_channel(const Tensor& rows, std::int64_t n, bool in_order) {
  Tensor matrices = rows;
  matrices.rank = 3;
  matrices.shape = {rows.shape[1], n, n};
  const std::int64_t row = n * rows.stride[0], column = rows.stride[0];
  matrices.stride = {rows.stride[1], in_order ? row : column, in_order ? column : row};
  return matrices;
}

// run(op): an operation on the context whose operands are of this type. False, and nothing done,
// where the workspace is too small.
template <class Run>
bool triangle_product_steps(const TriangleProduct& op, DType operand, const Run& run) {
  const std::int64_t n = op.z.shape[0], c = op.z.shape[2], d = op.map_out->n_in;
  WorkspaceCutter memory(op.workspace);
  const Tensor all = memory.take(operand, {n * n, 4 * d + c});
  WorkspaceCutter of_norm = memory;  // which is over when sums begin
  const Tensor x = of_norm.take(operand, {n * n, c});
  const Tensor sums = memory.take(DType::f32, {n * n, d});
  const Tensor sums_norm = memory.take(operand, {n * n, d});
  const Tensor y = memory.take(operand, {n * n, c});
  if (!of_norm.has_room() || !memory.has_room()) return false;
  const auto normalise = [&](const Tensor& from, const Norm& norm, const Tensor& to) {
    AddLayerNorm of;
    of.x = from;
    of.norm = norm;
    of.out_operand = to;
    run(of);
  };
  const Tensor rows(op.z.data, op.z.dtype, {n * n, c});
  normalise(rows, op.norm_in, x);
  run(Gemm{x, op.projections, Activation::none, {}, all});
  const Tensor sides = all.slice(1, 0, 2 * d);
  const Tensor gates = all.slice(1, 2 * d, 4 * d);
  const Tensor gate = all.slice(1, 4 * d, 4 * d + c);
  if (op.mask.empty()) {
    run(map_gate(gates, sides, sides));
  } else {
    const Tensor seen(op.mask.data, op.mask.dtype, {n * n, 1});
    run(make_map({gates, sides, seen},
                 {{MapCode::sigmoid}, {MapCode::multiply, 1}, {MapCode::multiply, 2}}, sides));
  }
  const Tensor a = pairs_by_channel(sides.slice(1, 0, d), n, op.outgoing);
  const Tensor b = pairs_by_channel(sides.slice(1, d, 2 * d), n, !op.outgoing);
  run(Matmul{a, b, pairs_by_channel(sums, n, true)});
  normalise(sums, op.norm_out, sums_norm);
  run(Gemm{sums_norm, op.map_out, Activation::none, {}, y});
  run(op.residual.empty() ? map_gate(gate, y, op.out)
                          : map_gate_shift(gate, y, op.residual, op.out));
  return true;
}

}  // namespace biogpu::ops
