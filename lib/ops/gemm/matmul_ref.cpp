#include "lib/ops/gemm/matmul.hpp"
#include "lib/ops/reference/element.hpp"

namespace biogpu::ops {
namespace {

// Element `at` of a tensor, whose axes of one number are repeated.
std::int64_t offset_of(const Tensor& x, const std::array<std::int64_t, tensor::kMaxRank>& at) {
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(x.rank); ++i)
    if (x.shape[i] != 1) offset += at[i] * x.stride[i];
  return offset;
}

}  // namespace

void matmul_ref(const Matmul& op) {
  const auto column = static_cast<std::size_t>(op.y.rank) - 1, row = column - 1;
  std::array<std::int64_t, tensor::kMaxRank> at{};
  for (std::int64_t i = 0; i < op.y.size(); ++i) {
    std::int64_t left = i;
    for (std::size_t axis = column + 1; axis-- > 0;) {
      at[axis] = left % op.y.shape[axis];
      left /= op.y.shape[axis];
    }
    auto in_a = at, in_b = at;
    double sum = 0;
    for (std::int64_t k = 0; k < op.a.shape[column]; ++k) {
      in_a[column] = in_b[row] = k;
      sum += reference::load(op.a, offset_of(op.a, in_a)) *
             reference::load(op.b, offset_of(op.b, in_b));
    }
    reference::store(op.y, offset_of(op.y, at), static_cast<double>(op.scale) * sum);
  }
}

}  // namespace biogpu::ops
