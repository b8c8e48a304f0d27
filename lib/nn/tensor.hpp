#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>

namespace biogpu::nn {

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

// A view of numbers in the memory of some backend, or of the host. Owns nothing; trivially
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
  Tensor(void* memory, DType type, std::initializer_list<std::int64_t> extents);

  bool empty() const { return rank == 0; }
  std::int64_t size() const;  // elements, 0 where empty
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
  Tensor slice(int axis, std::int64_t begin, std::int64_t end) const;
};

// [T, H * h] as [T, H, h].
Tensor split_heads(const Tensor& x, std::int64_t n_heads);

// "f32 [12, 320]", for messages.
std::string describe(const Tensor& tensor);
std::string describe_shape(const std::int64_t* shape, int rank);

}  // namespace biogpu::nn
