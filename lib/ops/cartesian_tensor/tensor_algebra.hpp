#pragma once

// Tensors of 3 x 3 as the 9 numbers of lib/ops/cartesian_tensor/tensor_parts.hpp, for one channel
// or a few: Number is float or a vector of floats. gpu/ops/cartesian_tensor/tensor_numbers.hpp
// makes the same functions a device's.

#ifndef BIOGPU_TENSOR_FUNCTION
#define BIOGPU_TENSOR_FUNCTION inline __attribute__((always_inline))
#endif

namespace biogpu::ops {

// In the order of tensor_parts.hpp: I; A01, A02, A12; S00, S01, S02, S11, S12.
template <class Number>
struct Numbers9 {
  Number n[9];
};

template <class Number>
struct Matrix3 {
  Number m[3][3];
};

template <class Number>
BIOGPU_TENSOR_FUNCTION Matrix3<Number> compose(const Numbers9<Number>& x) {
  const Number* const n = x.n;
  return {{{n[0] + n[4], n[1] + n[5], n[2] + n[6]},
           {n[5] - n[1], n[0] + n[7], n[3] + n[8]},
           {n[6] - n[2], n[8] - n[3], n[0] - n[4] - n[7]}}};
}

template <class Number>
BIOGPU_TENSOR_FUNCTION Numbers9<Number> decompose(const Matrix3<Number>& x) {
  const auto& m = x.m;
  const Number scalar = (m[0][0] + m[1][1] + m[2][2]) * (1.0f / 3.0f);
  return {{scalar, 0.5f * (m[0][1] - m[1][0]), 0.5f * (m[0][2] - m[2][0]),
           0.5f * (m[1][2] - m[2][1]), m[0][0] - scalar, 0.5f * (m[0][1] + m[1][0]),
           0.5f * (m[0][2] + m[2][0]), m[1][1] - scalar, 0.5f * (m[1][2] + m[2][1])}};
}

// What the 9 numbers get back from the matrix that compose() makes of them.
template <class Number>
BIOGPU_TENSOR_FUNCTION Numbers9<Number> compose_grad(const Matrix3<Number>& d) {
  const auto& m = d.m;
  return {{m[0][0] + m[1][1] + m[2][2], m[0][1] - m[1][0], m[0][2] - m[2][0], m[1][2] - m[2][1],
           m[0][0] - m[2][2], m[0][1] + m[1][0], m[0][2] + m[2][0], m[1][1] - m[2][2],
           m[1][2] + m[2][1]}};
}

// What a matrix gets back from the 9 numbers that decompose() makes of it.
template <class Number>
BIOGPU_TENSOR_FUNCTION Matrix3<Number> decompose_grad(const Numbers9<Number>& d) {
  const Number* const n = d.n;
  const Number diagonal = (n[0] - n[4] - n[7]) * (1.0f / 3.0f);
  return {{{diagonal + n[4], 0.5f * (n[5] + n[1]), 0.5f * (n[6] + n[2])},
           {0.5f * (n[5] - n[1]), diagonal + n[7], 0.5f * (n[8] + n[3])},
           {0.5f * (n[6] - n[2]), 0.5f * (n[8] - n[3]), diagonal}}};
}

// Sums of squares of the matrices of the three parts.
template <class Number>
struct Norms3 {
  Number scalar, antisymmetric, symmetric;
  BIOGPU_TENSOR_FUNCTION Number sum() const { return scalar + antisymmetric + symmetric; }
};

template <class Number>
BIOGPU_TENSOR_FUNCTION Norms3<Number> norms(const Numbers9<Number>& x) {
  const Number* const n = x.n;
  const Number last = n[4] + n[7];
  return {
      3.0f * n[0] * n[0], 2.0f * (n[1] * n[1] + n[2] * n[2] + n[3] * n[3]),
      n[4] * n[4] + n[7] * n[7] + last * last + 2.0f * (n[5] * n[5] + n[6] * n[6] + n[8] * n[8])};
}

// What the numbers get back from their norms.
template <class Number>
BIOGPU_TENSOR_FUNCTION Numbers9<Number> norms_grad(const Numbers9<Number>& x,
                                                   const Norms3<Number>& d) {
  const Number* const n = x.n;
  const Number a = 4.0f * d.antisymmetric, s = 4.0f * d.symmetric;
  return {{6.0f * d.scalar * n[0], a * n[1], a * n[2], a * n[3], s * (n[4] + 0.5f * n[7]), s * n[5],
           s * n[6], s * (n[7] + 0.5f * n[4]), s * n[8]}};
}

// sum += a b, with a (kLeft) or b (kRight) transposed.
template <bool kLeft, bool kRight, class Number>
BIOGPU_TENSOR_FUNCTION void add_product(Matrix3<Number>& sum, const Matrix3<Number>& a,
                                        const Matrix3<Number>& b) {
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 3; ++c)
      for (int k = 0; k < 3; ++k)
        sum.m[r][c] += (kLeft ? a.m[k][r] : a.m[r][k]) * (kRight ? b.m[c][k] : b.m[k][c]);
}

template <class Number>
BIOGPU_TENSOR_FUNCTION void multiply(Matrix3<Number>& x, const Number& by) {
  for (auto& row : x.m)
    for (Number& number : row) number = number * by;
}

// An edge's direction, 0 where it has none.
template <class Number>
struct Direction {
  Number u[3]{};
  Number inverse;  // of the length
  BIOGPU_TENSOR_FUNCTION Direction(const Number* r, const Number& length)
      : inverse(length > 0 ? 1 / length : Number{0}) {
    for (int a = 0; a < 3; ++a) u[a] = r[a] * inverse;
  }
};

// The 9 numbers of Id, skew(u) and u u^T - |u|^2 / 3 Id together.
template <class Number>
BIOGPU_TENSOR_FUNCTION Numbers9<Number> direction_numbers(const Direction<Number>& r) {
  const Number* const u = r.u;
  const Number third = (u[0] * u[0] + u[1] * u[1] + u[2] * u[2]) / 3;
  return {{1, -u[2], u[1], -u[0], u[0] * u[0] - third, u[0] * u[1], u[0] * u[2],
           u[1] * u[1] - third, u[1] * u[2]}};
}

// What a displacement gets back from those numbers.
template <class Number>
BIOGPU_TENSOR_FUNCTION void direction_grad(const Direction<Number>& r, const Numbers9<Number>& d,
                                           Number* d_r) {
  const Number* const u = r.u;
  const Number* const n = d.n;
  const Number third = (n[4] + n[7]) * 2 / 3;
  const Number d_u[3] = {2 * u[0] * n[4] + u[1] * n[5] + u[2] * n[6] - u[0] * third - n[3],
                         u[0] * n[5] + 2 * u[1] * n[7] + u[2] * n[8] - u[1] * third + n[2],
                         u[0] * n[6] + u[1] * n[8] - u[2] * third - n[1]};
  const Number along = u[0] * d_u[0] + u[1] * d_u[1] + u[2] * d_u[2];
  for (int a = 0; a < 3; ++a) d_r[a] = (d_u[a] - u[a] * along) * r.inverse;
}

// C = factor (Y M + M Y), or one-sided 2 factor Y M.
template <class Number>
BIOGPU_TENSOR_FUNCTION Matrix3<Number> whole_product(const Matrix3<Number>& y,
                                                     const Matrix3<Number>& m, const Number& factor,
                                                     bool one_sided) {
  Matrix3<Number> c{};
  add_product<false, false>(c, y, m);
  if (one_sided) {
    multiply(c, 2.0f * factor);
  } else {
    add_product<false, false>(c, m, y);
    multiply(c, factor);
  }
  return c;
}

// The 9 numbers of x / (|x|^2 + 1).
template <class Number>
BIOGPU_TENSOR_FUNCTION Numbers9<Number> shrink(Numbers9<Number> x) {
  const Number scale = 1.0f / (norms(x).sum() + 1.0f);
  for (Number& number : x.n) number = number * scale;
  return x;
}

// What the 9 numbers x get back from those of shrink(x).
template <class Number>
BIOGPU_TENSOR_FUNCTION Numbers9<Number> shrink_grad(const Numbers9<Number>& x,
                                                    const Numbers9<Number>& d_out) {
  const Number scale = 1.0f / (norms(x).sum() + 1.0f);
  Number along = 0.0f * scale;
  for (int k = 0; k < 9; ++k) along += d_out.n[k] * x.n[k];
  along = along * scale * scale;
  Numbers9<Number> d_x = norms_grad(x, Norms3<Number>{-along, -along, -along});
  for (int k = 0; k < 9; ++k) d_x.n[k] += d_out.n[k] * scale;
  return d_x;
}

// The 9 numbers of C / (|C|^2 + 1).
template <class Number>
BIOGPU_TENSOR_FUNCTION Numbers9<Number> small_product(const Matrix3<Number>& y,
                                                      const Matrix3<Number>& m,
                                                      const Number& factor, bool one_sided) {
  return shrink(decompose(whole_product(y, m, factor, one_sided)));
}

// The 9 numbers of factor Y Y.
template <class Number>
BIOGPU_TENSOR_FUNCTION Numbers9<Number> square(const Numbers9<Number>& y, const Number& factor) {
  const Matrix3<Number> m = compose(y);
  Matrix3<Number> product{};
  add_product<false, false>(product, m, m);
  multiply(product, factor);
  return decompose(product);
}

// What Y's numbers get back from those of factor Y Y.
template <class Number>
BIOGPU_TENSOR_FUNCTION Numbers9<Number> square_grad(const Numbers9<Number>& y, const Number& factor,
                                                    const Numbers9<Number>& d_out) {
  const Matrix3<Number> m = compose(y);
  Matrix3<Number> g = decompose_grad(d_out);
  multiply(g, factor);
  Matrix3<Number> d_y{};
  add_product<false, true>(d_y, g, m);
  add_product<true, false>(d_y, m, g);
  return compose_grad(d_y);
}

template <class Number>
struct ProductGrad {
  Numbers9<Number> y, m;
};

template <class Number>
BIOGPU_TENSOR_FUNCTION ProductGrad<Number> small_product_grad(const Matrix3<Number>& y,
                                                              const Matrix3<Number>& m,
                                                              const Number& factor, bool one_sided,
                                                              const Numbers9<Number>& d_out) {
  const Numbers9<Number> c = decompose(whole_product(y, m, factor, one_sided));
  Matrix3<Number> g = decompose_grad(shrink_grad(c, d_out));
  multiply(g, one_sided ? 2.0f * factor : factor);
  Matrix3<Number> d_y{}, d_m{};
  add_product<false, true>(d_y, g, m);
  add_product<true, false>(d_m, y, g);
  if (!one_sided) {
    add_product<true, false>(d_y, m, g);
    add_product<false, true>(d_m, g, y);
  }
  return {compose_grad(d_y), compose_grad(d_m)};
}

}  // namespace biogpu::ops
