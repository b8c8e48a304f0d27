#pragma once

#include "lib/ops/declare.hpp"

namespace biogpu::ops {

// out[i, j, ...] = x[i, j, ...], for views of any strides (lib/tensor/views.hpp):
//   another order of axes   permute(context, {permuted(x, {2, 0, 1}), out})
//   a copy, or another type permute(context, {x, out})
//   a concatenation         one permute for each part, into out.slice(axis, begin, end); operations
//                           that write rows of any distance write their slice themselves
//   a repetition            permute(context, {repeated(x, 0, n), out})
// Numbers of the same type are copied as they are; f32, f16 and bf16 are rounded once to another of
// these, where GPUs clamp what is too large for f16, and CPUs make it infinite.
struct Permute {
  Tensor x;    // any type, 1 to 5 axes of any strides
  Tensor out;  // x's shape and type, or another of f32, f16 and bf16; no number of it twice
};
BIOGPU_DECLARE_OP(permute, Permute);

}  // namespace biogpu::ops
