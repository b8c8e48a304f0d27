#pragma once

#include "lib/tensor/linear.hpp"
#include "lib/tensor/ragged.hpp"
#include "lib/tensor/tensor.hpp"

// What a header of an operation begins with. Headers of operations are plain: gpu/ includes them.
namespace biogpu::tensor {
class Context;
}
namespace biogpu::ops {

using tensor::Context;
using tensor::DType;
using tensor::Linear;
using tensor::Norm;
using tensor::Ragged;
using tensor::Tensor;

class CpuContext;

}  // namespace biogpu::ops

// The functions of an operation: the one that models call, which queues it on any context, and the
// implementations that lib/ops/dispatch.hpp chooses from. The GPU's is gpu::ops::name.
#define BIOGPU_DECLARE_OP(name, Args)            \
  void name(Context& context, const Args& args); \
  void name##_ref(const Args& args);             \
  void name##_cpu(CpuContext& context, const Args& args)
