#pragma once

#include <cstdint>
#include <initializer_list>

#include "lib/tensor/tensor.hpp"

// Views: the numbers of a tensor in the same memory, with other axes. Their last axis need not be
// contiguous; the operations that take such views (matmul, permute) say so.
namespace biogpu::tensor {

// Axis i of the view is axis axes[i] of x.
Tensor permuted(const Tensor& x, std::initializer_list<int> axes);

// The last two axes exchanged.
Tensor transposed(const Tensor& x);

// An axis of n * inner numbers as two, [n, inner].
Tensor split_axis(const Tensor& x, int axis, std::int64_t inner);

// Axes `axis` and `axis` + 1 as one. Throws Error{failed} where no stride gives that.
Tensor merge_axes(const Tensor& x, int axis);

// A new axis before `axis`, along which the same numbers are repeated.
Tensor repeated(const Tensor& x, int axis, std::int64_t n = 1);

}  // namespace biogpu::tensor
