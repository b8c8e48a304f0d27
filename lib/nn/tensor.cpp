#include "lib/nn/tensor.hpp"

#include <fmt/format.h>

namespace biogpu::nn {

const char* name_of(DType dtype) {
  constexpr std::array kNames = {"f32", "f16", "bf16", "f64", "i32", "i64", "u8"};
  return kNames[static_cast<std::size_t>(dtype)];
}

Tensor::Tensor(void* memory, DType type, std::initializer_list<std::int64_t> extents)
    : data(memory), dtype(type), rank(static_cast<int>(extents.size())) {
  std::size_t axis = 0;
  for (const std::int64_t n : extents) shape[axis++] = n;
  std::int64_t step = 1;
  for (int i = rank; i-- > 0;) {
    const auto a = static_cast<std::size_t>(i);
    stride[a] = step;
    step *= shape[a];
  }
}

std::int64_t Tensor::size() const {
  std::int64_t n = rank == 0 ? 0 : 1;
  for (int i = 0; i < rank; ++i) n *= shape[static_cast<std::size_t>(i)];
  return n;
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

Tensor Tensor::slice(int axis, std::int64_t begin, std::int64_t end) const {
  const auto a = static_cast<std::size_t>(axis);
  Tensor part = *this;
  part.shape[a] = end - begin;
  if (data != nullptr)  // null where it is only measured
    part.data = static_cast<std::uint8_t*>(data) +
                begin * stride[a] * static_cast<std::int64_t>(bytes_of(dtype));
  return part;
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

}  // namespace biogpu::nn
