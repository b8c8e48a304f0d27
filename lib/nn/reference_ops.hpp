#pragma once

#include <memory>

#include "lib/nn/backend.hpp"

namespace biogpu::nn {

// Every operation of the table written as its formula, in double precision over fp32 tensors in
// host memory, one number after the other: what tests believe. A test of a 16-bit backend gives it
// the values that rounding left.
std::unique_ptr<Backend> make_reference_backend();

}  // namespace biogpu::nn
