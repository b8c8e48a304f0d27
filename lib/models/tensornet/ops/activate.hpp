#pragma once

#include <cstdint>

#include "lib/ops/declare.hpp"

// Activations but SiLU, which is lib/ops/elementwise/silu.hpp. References take fp64 tensors as well
// as fp32 ones, all of one type.
namespace biogpu::models::tensornet {

using ops::Context;
using ops::CpuContext;
using ops::Tensor;

// torchmd-net's activations; its "swish" is silu.
enum class Unit : std::uint8_t {
  silu,              // x / (1 + e^-x)
  shifted_softplus,  // log(1 + e^x) - log 2
  tanh,
  sigmoid,  // 1 / (1 + e^-x)
  mish,     // x tanh(log(1 + e^x))
};

// out = unit(x), number by number.
struct Activate {
  Tensor x;  // f32 [R, d], contiguous
  Unit unit = Unit::silu;
  Tensor out;  // f32 [R, d], contiguous; may be x's memory
};
BIOGPU_DECLARE_OP(activate, Activate);

// d_x = d_out unit'(x)
struct ActivateGrad {
  Tensor x;  // f32 [R, d], contiguous
  Unit unit = Unit::silu;
  Tensor d_out;  // f32 [R, d], contiguous
  Tensor d_x;    // f32 [R, d], contiguous; may be d_out's memory
};
BIOGPU_DECLARE_OP(activate_grad, ActivateGrad);

}  // namespace biogpu::models::tensornet
