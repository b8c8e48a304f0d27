#pragma once

// Eigenvalues and eigenvectors of one symmetric 3 x 3 matrix by Jacobi's rotations in double
// precision: columns stay orthogonal for every matrix. (Jacobi 1846; Golub and Van Loan, Matrix
// Computations, 8.5) gpu/ops/cartesian_tensor/eigen3.hip makes the same functions a device's.

#include <cmath>

#ifndef BIOGPU_JACOBI_FUNCTION
#define BIOGPU_JACOBI_FUNCTION inline __attribute__((always_inline))
#endif

namespace biogpu::ops {

struct EigenSystem3 {
  double a[3][3];  // symmetric; its diagonal becomes the eigenvalues
  double v[3][3];  // its columns become the eigenvectors
};

// Makes a[p][q] zero; r is the third axis.
template <int p, int q>
BIOGPU_JACOBI_FUNCTION void rotate_axes(EigenSystem3& s) {
  constexpr int r = 3 - p - q;
  if (s.a[p][q] == 0) return;
  const double theta = (s.a[q][q] - s.a[p][p]) / (2 * s.a[p][q]);
  const double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
  const double c = 1 / sqrt(t * t + 1), sine = t * c;
  s.a[p][p] -= t * s.a[p][q];
  s.a[q][q] += t * s.a[p][q];
  s.a[p][q] = s.a[q][p] = 0;
  const double pr = s.a[p][r], qr = s.a[q][r];
  s.a[p][r] = s.a[r][p] = c * pr - sine * qr;
  s.a[q][r] = s.a[r][q] = sine * pr + c * qr;
  for (int i = 0; i < 3; ++i) {
    const double ip = s.v[i][p], iq = s.v[i][q];
    s.v[i][p] = c * ip - sine * iq;
    s.v[i][q] = sine * ip + c * iq;
  }
}

template <int p, int q>
BIOGPU_JACOBI_FUNCTION void sort_axes(EigenSystem3& s) {
  if (!(s.a[q][q] < s.a[p][p])) return;
  const double value = s.a[p][p];
  s.a[p][p] = s.a[q][q];
  s.a[q][q] = value;
  for (int i = 0; i < 3; ++i) {
    const double number = s.v[i][p];
    s.v[i][p] = s.v[i][q];
    s.v[i][q] = number;
  }
}

// The sign of column k.
template <int k>
BIOGPU_JACOBI_FUNCTION void choose_sign(EigenSystem3& s) {
  double greatest = s.v[0][k];
  for (int i = 1; i < 3; ++i)
    if (fabs(s.v[i][k]) > fabs(greatest) + 1e-6) greatest = s.v[i][k];
  if (greatest < 0)
    for (int i = 0; i < 3; ++i) s.v[i][k] = -s.v[i][k];
}

// x: 9 numbers of a matrix, of which those on and below the diagonal are read.
BIOGPU_JACOBI_FUNCTION EigenSystem3 eigen_system(const float* x) {
  EigenSystem3 s{{{x[0], x[3], x[6]}, {x[3], x[4], x[7]}, {x[6], x[7], x[8]}},
                 {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  // Each sweep squares what is left outside the diagonal: more than enough for any matrix.
  constexpr int kSweeps = 10;
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    if (s.a[0][1] == 0 && s.a[0][2] == 0 && s.a[1][2] == 0) break;
    rotate_axes<0, 1>(s);
    rotate_axes<0, 2>(s);
    rotate_axes<1, 2>(s);
  }
  sort_axes<0, 1>(s);
  sort_axes<1, 2>(s);
  sort_axes<0, 1>(s);
  choose_sign<0>(s);
  choose_sign<1>(s);
  choose_sign<2>(s);
  return s;
}

}  // namespace biogpu::ops
