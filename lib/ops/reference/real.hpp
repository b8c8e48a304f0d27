#pragma once

#include "lib/ops/declare.hpp"

namespace biogpu::ops::reference {

// body(T{}) with the type of a tensor's real numbers, float or double. References of operations
// that have gradients take tensors of either, all of one type, so that finite differences of the
// formula itself check the gradients.
template <class Body>
void with_real(const Tensor& tensor, const Body& body) {
  if (tensor.dtype == DType::f64) {
    body(double{});
  } else {
    body(float{});
  }
}

}  // namespace biogpu::ops::reference
