#pragma once

#include <cstdint>

#include "lib/tensor/tensor.hpp"

namespace biogpu::tensor {

// How matrix products and attention read their operands. Sums, normalisation and softmax are fp32
// in all of them; the residual stream is of the type that the model chooses.
enum class Precision : std::uint8_t { fp32, tf32, fp16, bf16 };

// The type in which operands are stored: fp32 and tf32 differ only in how they are multiplied.
constexpr DType operand_type(Precision precision) {
  return precision == Precision::fp16   ? DType::f16
         : precision == Precision::bf16 ? DType::bf16
                                        : DType::f32;
}

}  // namespace biogpu::tensor
