#include "lib/tensor/tensor.hpp"

#include <fmt/format.h>

namespace biogpu::tensor {

const char* name_of(DType dtype) {
  constexpr std::array kNames = {"f32", "f16", "bf16", "f64", "i32", "i64", "u8"};
  return kNames[static_cast<std::size_t>(dtype)];
}

bool Tensor::contiguous() const {
  std::int64_t step = 1;
  for (int i = rank; i-- > 0;) {
    const auto a = static_cast<std::size_t>(i);
    if (shape[a] != 1 && stride[a] != step) return false;
    step *= shape[a];
  }
  return true;
}

Tensor split_heads(const Tensor& x, std::int64_t n_heads) {
  Tensor heads = x;
  heads.rank = 3;
  heads.shape = {x.shape[0], n_heads, x.shape[1] / n_heads};
  heads.stride = {x.stride[0], x.shape[1] / n_heads, 1};
  return heads;
}

std::string describe_shape(const std::int64_t* shape, int rank) {
  return fmt::format("[{}]", fmt::join(shape, shape + rank, ", "));
}

std::string describe(const Tensor& tensor) {
  return fmt::format("{} {}", name_of(tensor.dtype),
                     describe_shape(tensor.shape.data(), tensor.rank));
}

}  // namespace biogpu::tensor
