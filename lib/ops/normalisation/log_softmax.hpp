#pragma once

#include "lib/ops/declare.hpp"

namespace biogpu::ops {

// x - log sum exp x over each row, in place.
struct LogSoftmax {
  Tensor x;  // f32 [R, V]
};
BIOGPU_DECLARE_OP(log_softmax, LogSoftmax);

}  // namespace biogpu::ops
