#pragma once

#include <cstdint>
#include <utility>

#include "lib/ops/gemm/matmul.hpp"

namespace biogpu::ops {

// A product as its implementations walk through it: three batch axes, some of one number, and the
// strides of each operand, 0 along axes that it has one number of.
struct MatmulAxes {
  static constexpr int kBatchAxes = tensor::kMaxRank - 2;
  struct Strides {
    std::int64_t batch[kBatchAxes], row, column;
  };

  std::int64_t batch[kBatchAxes], m, n, k;
  Strides a, b, y;

  std::int64_t n_products() const { return batch[0] * batch[1] * batch[2]; }
};

// Part of one product of the batch: rows and panels of columns, which one thread computes.
struct MatmulPart {
  std::int64_t product, row_begin, row_end, panel_begin, panel_end;
};

// Elements from an operand's first to the first of product `index`.
inline std::int64_t batch_offset(const MatmulAxes& axes, const MatmulAxes::Strides& strides,
                                 std::int64_t index) {
  std::int64_t at = 0;
  for (int i = MatmulAxes::kBatchAxes; i-- > 0;) {
    at += index % axes.batch[i] * strides.batch[i];
    index /= axes.batch[i];
  }
  return at;
}

inline MatmulAxes::Strides matmul_strides(const Tensor& x) {
  MatmulAxes::Strides strides{};
  const auto stride = [&](int axis) {
    const auto a = static_cast<std::size_t>(axis);
    return axis < 0 || x.shape[a] == 1 ? 0 : x.stride[a];
  };
  for (int i = 0; i < MatmulAxes::kBatchAxes; ++i)
    strides.batch[i] = stride(x.rank - tensor::kMaxRank + i);
  strides.row = stride(x.rank - 2);
  strides.column = stride(x.rank - 1);
  return strides;
}

// y's columns are to lie closer to each other than its rows: else a and b change places, which
// leaves every sum as it is.
inline Matmul with_near_columns(const Matmul& op) {
  const auto column = static_cast<std::size_t>(op.y.rank) - 1, row = column - 1;
  if (op.y.shape[row] == 1 || op.y.stride[column] <= op.y.stride[row]) return op;
  const auto turned = [&](Tensor x) {
    std::swap(x.shape[row], x.shape[column]);
    std::swap(x.stride[row], x.stride[column]);
    return x;
  };
  return {turned(op.b), turned(op.a), turned(op.y), op.scale};
}

inline MatmulAxes matmul_axes(const Matmul& op) {
  MatmulAxes axes{};
  for (int i = 0; i < MatmulAxes::kBatchAxes; ++i) {
    const int axis = op.y.rank - tensor::kMaxRank + i;
    axes.batch[i] = axis < 0 ? 1 : op.y.shape[static_cast<std::size_t>(axis)];
  }
  const auto last = static_cast<std::size_t>(op.y.rank) - 1;
  axes.m = op.y.shape[last - 1];
  axes.n = op.y.shape[last];
  axes.k = op.a.shape[last];
  axes.a = matmul_strides(op.a);
  axes.b = matmul_strides(op.b);
  axes.y = matmul_strides(op.y);
  return axes;
}

}  // namespace biogpu::ops
