#pragma once

// Tensors of a few channels at a time on the CPU: vectors of the compiler, 4 floats, which every
// target has. These operations move 36 bytes a tensor for about as many operations; wider vectors
// would wait for memory.

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "lib/ops/cartesian_tensor/tensor_algebra.hpp"
#include "lib/ops/cpu/cpu_context.hpp"

namespace biogpu::ops {

using Lanes = float __attribute__((vector_size(16)));
inline constexpr std::int64_t kLanes = 4;

inline Lanes load_lanes(const float* from, std::int64_t n) {
  Lanes x = {};
  std::memcpy(&x, from, static_cast<std::size_t>(n < kLanes ? n : kLanes) * sizeof(float));
  return x;
}
inline void store_lanes(const Lanes& x, float* to, std::int64_t n) {
  std::memcpy(to, &x, static_cast<std::size_t>(n < kLanes ? n : kLanes) * sizeof(float));
}

// n channels of the 9 numbers that are `step` apart.
inline Numbers9<Lanes> load_numbers(const float* x, std::int64_t step, std::int64_t n) {
  Numbers9<Lanes> numbers;
  for (int c = 0; c < 9; ++c) numbers.n[c] = load_lanes(x + c * step, n);
  return numbers;
}
inline void store_numbers(const Numbers9<Lanes>& numbers, float* x, std::int64_t step,
                          std::int64_t n) {
  for (int c = 0; c < 9; ++c) store_lanes(numbers.n[c], x + c * step, n);
}

// body(atom, channel, its place in a number's rows, how many channels) for all channels of the
// tensors of an array [9, T, F], a few at a time.
template <class Body>
void for_tensors(CpuContext& context, const tensor::Tensor& x, const Body& body) {
  const std::int64_t d = x.shape[2];
  context.for_rows(x.shape[1], [&](std::int64_t i, std::int64_t end) {
    for (; i < end; ++i)
      for (std::int64_t f = 0; f < d; f += kLanes) body(i, f, i * d + f, std::min(kLanes, d - f));
  });
}

// From one of the 9 numbers to the next.
inline std::int64_t number_step(const tensor::Tensor& x) { return x.shape[1] * x.shape[2]; }

}  // namespace biogpu::ops
