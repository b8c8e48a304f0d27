#pragma once

#include <cstdint>

#include "lib/tensor/tensor.hpp"

namespace biogpu::tensor {

// A linear map y = x W^T + b in a context's own layout. Made by Context::upload_linear(), which
// owns the memory.
struct Linear {
  std::int64_t n_out = 0;
  std::int64_t n_in = 0;
  Tensor weight;                 // operand [n_out, n_in], or empty where `packed` holds it
  Tensor bias;                   // f32 [n_out], or empty
  const void* packed = nullptr;  // the context's own
  // In fp32 on a GPU: summed in parts by our kernels, not by the vendor's library, which is faster
  // and cuts long sums off (docs/design/infer_gpu.md).
  bool sum_in_parts = false;
};

// Layer normalisation: (x - mean) / sqrt(variance + eps) * weight + bias over the last axis, the
// variance taken in a second pass. (Ba, Kiros and Hinton 2016, arXiv 1607.06450)
struct Norm {
  Tensor weight;  // f32 [d]
  Tensor bias;    // f32 [d]
  float eps = 1e-5f;
};

}  // namespace biogpu::tensor
