#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>

namespace biogpu::tensor {

enum class DType : std::uint8_t { f32, f16, bf16, f64, i32, i64, u8 };

constexpr std::size_t bytes_of(DType dtype) {
  switch (dtype) {
    case DType::f64:
    case DType::i64:
      return 8;
    case DType::f32:
    case DType::i32:
      return 4;
    case DType::f16:
    case DType::bf16:
      return 2;
    case DType::u8:
      break;
  }
  return 1;
}

const char* name_of(DType dtype);

inline constexpr int kMaxRank = 5;

// A view of numbers in the memory of some context, or of the host. Owns nothing; trivially
// copyable. Strides are in elements; the last axis of every tensor that an operation takes is
// contiguous. A default-constructed tensor is empty: "not given" wherever an operation says that a
// tensor is optional.
struct Tensor {
  void* data = nullptr;
  DType dtype = DType::f32;
  int rank = 0;  // 0: empty
  std::array<std::int64_t, kMaxRank> shape{};
  std::array<std::int64_t, kMaxRank> stride{};

  Tensor() = default;
  // Contiguous, the last axis fastest.
  Tensor(void* memory, DType type, std::initializer_list<std::int64_t> extents)
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

  bool empty() const { return rank == 0; }
  // Elements; 0 where empty.
  std::int64_t size() const {
    std::int64_t n = rank == 0 ? 0 : 1;
    for (int i = 0; i < rank; ++i) n *= shape[static_cast<std::size_t>(i)];
    return n;
  }
  std::size_t bytes() const { return static_cast<std::size_t>(size()) * bytes_of(dtype); }
  bool contiguous() const;

  template <class T>
  T* as() const {
    return static_cast<T*>(data);
  }
  // The first element of index i of the first axis.
  template <class T>
  T* row(std::int64_t i) const {
    return as<T>() + i * stride[0];
  }

  // [begin, end) of one axis; the other axes and all strides stay.
  Tensor slice(int axis, std::int64_t begin, std::int64_t end) const {
    const auto a = static_cast<std::size_t>(axis);
    Tensor part = *this;
    part.shape[a] = end - begin;
    if (data != nullptr)  // null where it is only measured
      part.data = static_cast<std::uint8_t*>(data) +
                  begin * stride[a] * static_cast<std::int64_t>(bytes_of(dtype));
    return part;
  }
};

// [T, H * h] as [T, H, h].
Tensor split_heads(const Tensor& x, std::int64_t n_heads);

// "f32 [12, 320]", for messages.
std::string describe(const Tensor& tensor);
std::string describe_shape(const std::int64_t* shape, int rank);

}  // namespace biogpu::tensor
