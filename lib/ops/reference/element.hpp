#pragma once

#include "lib/ops/declare.hpp"
#include "lib/tensor/float16.hpp"

// Single numbers of tensors of any real type, for references of operations that take all of them.
namespace biogpu::ops::reference {

inline double load(const Tensor& x, std::int64_t at) {
  if (x.dtype == DType::f64) return x.as<double>()[at];
  if (x.dtype == DType::f16)
    return static_cast<double>(tensor::from_f16(x.as<std::uint16_t>()[at]));
  if (x.dtype == DType::bf16)
    return static_cast<double>(tensor::from_bf16(x.as<std::uint16_t>()[at]));
  return static_cast<double>(x.as<float>()[at]);
}

inline void store(const Tensor& x, std::int64_t at, double value) {
  if (x.dtype == DType::f64) {
    x.as<double>()[at] = value;
  } else if (x.dtype == DType::f16) {
    x.as<std::uint16_t>()[at] = tensor::to_f16(static_cast<float>(value));
  } else if (x.dtype == DType::bf16) {
    x.as<std::uint16_t>()[at] = tensor::to_bf16(static_cast<float>(value));
  } else {
    x.as<float>()[at] = static_cast<float>(value);
  }
}

}  // namespace biogpu::ops::reference
