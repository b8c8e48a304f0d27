#pragma once

#include "lib/ops/declare.hpp"

namespace biogpu::ops {

// sum = x + add, out and out_operand = norm(x + add). Each target is optional, and may be the
// memory of x where it has x's type. (Ba, Kiros and Hinton 2016, arXiv 1607.06450)
struct AddLayerNorm {
  Tensor x;            // f32 or operand [R, d], rows of any distance
  Tensor add;          // operand [R, d], or empty
  Norm norm;           //
  Tensor sum;          // f32 [R, d], or empty
  Tensor out;          // f32 [R, d], or empty
  Tensor out_operand;  // operand [R, d], or empty
};
BIOGPU_DECLARE_OP(add_layer_norm, AddLayerNorm);

}  // namespace biogpu::ops
