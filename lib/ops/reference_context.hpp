#pragma once

#include <memory>

#include "lib/tensor/context.hpp"

namespace biogpu::ops {

// Every operation as its formula, in double precision over fp32 tensors in host memory, one number
// after the other: what tests believe. A test of a 16-bit context gives it the values that rounding
// left.
std::unique_ptr<tensor::Context> make_reference_context();

}  // namespace biogpu::ops
