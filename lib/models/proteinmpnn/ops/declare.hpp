#pragma once

#include "lib/ops/declare.hpp"

// What a header of an operation of ProteinMPNN begins with.
namespace biogpu::models::proteinmpnn {

using ops::Context;
using ops::CpuContext;
using ops::DType;
using ops::Linear;
using ops::Norm;
using ops::Tensor;

}  // namespace biogpu::models::proteinmpnn
