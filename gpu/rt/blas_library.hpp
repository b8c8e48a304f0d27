#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "gpu/rt/stream.hpp"

namespace biogpu::gpu {

// One matrix product of the vendor's library: out[m, n] = scale a[m, k] b[n, k]^T + bias +
// residual, all row-major with the last index fastest, sums in fp32.
struct BlasProduct {
  enum class Type : std::uint8_t { f32, fp16, bf16 };
  int m = 0, n = 0, k = 0;
  float scale = 1;
  Type operand = Type::fp16;  // of a and b; f32: multiplied as TF32
  Type out = Type::f32;
  std::int64_t lda = 0, ldb = 0, ldo = 0, ldr = 0;  // elements from row to row
  const void* a = nullptr;
  const void* b = nullptr;
  const void* bias = nullptr;      // [n] of out's type, or not given
  const void* residual = nullptr;  // [m, n] of out's type, or not given; may be the memory of out
  void* out_data = nullptr;
};

// The vendor's library for matrix products (cuBLASLt), opened at run time: nothing of it is needed
// to start, and everything works without it. Looked for in BIOGPU_CUBLAS (a file), on the loader's
// path, beside the program, in CUDA's folders and in an active Python environment. One object a
// device and thread; not thread-safe.
class BlasLibrary {
 public:
  // Empty, with *why set to one line, where it is not found or refuses the device, and in builds
  // for other platforms than NVIDIA's.
  static std::unique_ptr<BlasLibrary> open(std::string* why);
  ~BlasLibrary();
  BlasLibrary(const BlasLibrary&) = delete;
  BlasLibrary& operator=(const BlasLibrary&) = delete;

  // Queues the product; false where the library has no way to compute it. The way is chosen once
  // for each shape.
  bool multiply(const BlasProduct& product, Stream& stream);

 private:
  struct State;
  explicit BlasLibrary(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace biogpu::gpu
