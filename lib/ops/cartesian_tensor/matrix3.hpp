#pragma once

// Tensors of 3 x 3 as matrices in double precision, for references of operations on the 9 numbers
// of lib/ops/cartesian_tensor/tensor_parts.hpp.

#include <array>
#include <cstdint>

#include "lib/ops/declare.hpp"

namespace biogpu::ops::reference {

using Matrix = std::array<std::array<double, 3>, 3>;

// The matrix that number c alone stands for; a tensor is the sum of its numbers' matrices.
inline Matrix basis(int c) {
  constexpr int kRows[9] = {0, 0, 0, 1, 0, 0, 0, 1, 1}, kColumns[9] = {0, 1, 2, 2, 0, 1, 2, 1, 2};
  Matrix m{};
  const auto r = static_cast<std::size_t>(kRows[c]), k = static_cast<std::size_t>(kColumns[c]);
  if (c == 0) {
    m[0][0] = m[1][1] = m[2][2] = 1;
  } else if (r == k) {
    m[r][r] = 1, m[2][2] = -1;
  } else {
    m[r][k] = 1, m[k][r] = c < 4 ? -1 : 1;
  }
  return m;
}

inline double inner(const Matrix& a, const Matrix& b) {
  double sum = 0;
  for (std::size_t r = 0; r < 3; ++r)
    for (std::size_t k = 0; k < 3; ++k) sum += a[r][k] * b[r][k];
  return sum;
}

inline Matrix times(const Matrix& a, const Matrix& b) {
  Matrix m{};
  for (std::size_t r = 0; r < 3; ++r)
    for (std::size_t c = 0; c < 3; ++c)
      for (std::size_t k = 0; k < 3; ++k) m[r][c] += a[r][k] * b[k][c];
  return m;
}

inline Matrix transposed(const Matrix& a) {
  Matrix m{};
  for (std::size_t r = 0; r < 3; ++r)
    for (std::size_t c = 0; c < 3; ++c) m[r][c] = a[c][r];
  return m;
}

// a + scale b
inline Matrix plus(const Matrix& a, const Matrix& b, double scale = 1) {
  Matrix m = a;
  for (std::size_t r = 0; r < 3; ++r)
    for (std::size_t c = 0; c < 3; ++c) m[r][c] += scale * b[r][c];
  return m;
}

// The matrix of channel f of atom i in an array [9, T, F].
template <class T>
Matrix load_matrix(const Tensor& x, std::int64_t i, std::int64_t f) {
  Matrix m{};
  for (int c = 0; c < 9; ++c)
    m = plus(m, basis(c), static_cast<double>(x.as<T>()[(c * x.shape[1] + i) * x.shape[2] + f]));
  return m;
}

// The 9 numbers of a matrix.
template <class T>
void store_matrix(const Tensor& x, std::int64_t i, std::int64_t f, const Matrix& m) {
  const double scalar = (m[0][0] + m[1][1] + m[2][2]) / 3;
  for (int c = 0; c < 9; ++c) {
    const Matrix b = basis(c);
    // Diagonal numbers are what the scalar part leaves; the others are half an inner product.
    const double number = c == 0   ? scalar
                          : c == 4 ? m[0][0] - scalar
                          : c == 7 ? m[1][1] - scalar
                                   : inner(b, m) / 2;
    x.as<T>()[(c * x.shape[1] + i) * x.shape[2] + f] = static_cast<T>(number);
  }
}

// What the 9 numbers get back from the gradient of their matrix.
template <class T>
void store_matrix_grad(const Tensor& x, std::int64_t i, std::int64_t f, const Matrix& d) {
  for (int c = 0; c < 9; ++c)
    x.as<T>()[(c * x.shape[1] + i) * x.shape[2] + f] = static_cast<T>(inner(basis(c), d));
}

// What a matrix gets back from the gradient of the 9 numbers that store_matrix() makes of it.
template <class T>
Matrix load_matrix_grad(const Tensor& x, std::int64_t i, std::int64_t f) {
  const auto number = [&](int c) {
    return static_cast<double>(x.as<T>()[(c * x.shape[1] + i) * x.shape[2] + f]);
  };
  Matrix m{};
  for (const int c : {1, 2, 3, 5, 6, 8}) m = plus(m, basis(c), number(c) / 2);
  for (std::size_t r = 0; r < 3; ++r) m[r][r] += (number(0) - number(4) - number(7)) / 3;
  m[0][0] += number(4);
  m[1][1] += number(7);
  return m;
}

}  // namespace biogpu::ops::reference
