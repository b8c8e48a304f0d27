#pragma once

// Results of operations as they are and as the next layer reads them.

#include "gpu/ops/elements.hpp"
#include "lib/ops/activation.hpp"

namespace biogpu::gpu::ops {

// lib/ops/activation.hpp's Activated in device memory.
struct ActivatedRows {
  const float* scale = nullptr;  // [n], or not given
  const float* shift = nullptr;  // [n], or not given
  biogpu::ops::Activation activation = biogpu::ops::Activation::none;
  Rows out;  // or not given
};

struct Outputs {
  int n = 0;  // columns
  Rows out;   // or not given
  ActivatedRows activated;
};

inline Outputs outputs_of(std::int64_t n, const tensor::Tensor& out,
                          const biogpu::ops::Activated& activated) {
  const auto numbers = [](const tensor::Tensor& x) {
    return x.empty() ? nullptr : x.as<const float>();
  };
  return {static_cast<int>(n),
          rows_of(out),
          {numbers(activated.scale), numbers(activated.shift), activated.activation,
           rows_of(activated.out)}};
}

}  // namespace biogpu::gpu::ops
