#pragma once

#include "lib/ops/declare.hpp"

namespace biogpu::ops {

// Softmax along one axis: out = e^z / sum e^z, or z - log sum e^z, of the logits z = scale x +
// mask. A mask of bytes replaces the logits where it is 0 by `masked` instead. Where all of a line
// are replaced by a finite number the weights are equal; by -infinity they are 0, and their
// logarithms -infinity. NaN among numbers makes the whole line NaN.
struct Softmax {
  Tensor x;      // f32, f16 or bf16, up to 5 axes of any strides
  int axis = 0;  // whose numbers are one line
  Tensor mask;   // u8 or f32, broadcast to the shape of x as in NumPy, any strides; or empty
  float scale = 1;
  float masked = -1e9f;  // or -infinity
  bool log = false;
  Tensor out;  // f32, f16 or bf16 of x's shape, any strides; may be the memory of x where it has
               // its type and strides
};
BIOGPU_DECLARE_OP(softmax, Softmax);

}  // namespace biogpu::ops
