#pragma once

#include "lib/ops/declare.hpp"

namespace biogpu::ops {

// out = x / (1 + exp(-gate)), number by number.
struct SigmoidGate {
  Tensor x;     // f32 [R, d], contiguous
  Tensor gate;  // f32 [R, d], contiguous
  Tensor out;   // f32 [R, d], contiguous
};
BIOGPU_DECLARE_OP(sigmoid_gate, SigmoidGate);

struct SigmoidGateGrad {
  Tensor x;       // f32 [R, d], contiguous
  Tensor gate;    // f32 [R, d], contiguous
  Tensor d_out;   // f32 [R, d], contiguous
  Tensor d_x;     // f32 [R, d], contiguous
  Tensor d_gate;  // f32 [R, d], contiguous
};
BIOGPU_DECLARE_OP(sigmoid_gate_grad, SigmoidGateGrad);

}  // namespace biogpu::ops
