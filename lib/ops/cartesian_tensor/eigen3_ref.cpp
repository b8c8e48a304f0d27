#include <algorithm>
#include <array>
#include <cmath>

#include "lib/ops/cartesian_tensor/eigen3.hpp"
#include "lib/ops/cartesian_tensor/matrix3.hpp"

namespace biogpu::ops {
namespace {

using reference::Matrix;

// Turns the axes p and q by an angle.
Matrix turned(std::size_t p, std::size_t q, double angle) {
  Matrix m{};
  for (std::size_t i = 0; i < 3; ++i) m[i][i] = 1;
  m[p][p] = m[q][q] = std::cos(angle);
  m[p][q] = std::sin(angle);
  m[q][p] = -m[p][q];
  return m;
}

// The classical method: the greatest number outside the diagonal is made zero, by its angle.
void make_diagonal(Matrix& a, Matrix& v) {
  for (int step = 0; step < 100; ++step) {
    std::size_t p = 0, q = 1;
    for (const auto [i, k] : {std::array<std::size_t, 2>{0, 2}, {1, 2}})
      if (std::fabs(a[i][k]) > std::fabs(a[p][q])) p = i, q = k;
    if (!(std::fabs(a[p][q]) >
          1e-18 * (std::fabs(a[0][0]) + std::fabs(a[1][1]) + std::fabs(a[2][2]))))
      return;
    const Matrix turn = turned(p, q, 0.5 * std::atan2(2 * a[p][q], a[q][q] - a[p][p]));
    Matrix back{};
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t k = 0; k < 3; ++k) back[i][k] = turn[k][i];
    a = reference::times(reference::times(back, a), turn);
    v = reference::times(v, turn);
  }
}

}  // namespace

void eigen3_ref(const Eigen3& op) {
  for (std::int64_t r = 0; r < op.x.shape[0]; ++r) {
    Matrix a{}, v{};
    for (std::size_t i = 0; i < 3; ++i) {
      v[i][i] = 1;
      for (std::size_t k = 0; k <= i; ++k)
        a[i][k] = a[k][i] = static_cast<double>(op.x.row<float>(r)[3 * i + k]);
    }
    make_diagonal(a, v);
    std::array<std::size_t, 3> column{0, 1, 2};
    std::sort(column.begin(), column.end(),
              [&](std::size_t i, std::size_t k) { return a[i][i] < a[k][k]; });
    for (std::size_t c = 0; c < 3; ++c) {
      const std::size_t from = column[c];
      if (!op.values.empty()) op.values.row<float>(r)[c] = static_cast<float>(a[from][from]);
      if (op.vectors.empty()) continue;
      double greatest = v[0][from];
      for (const std::size_t i : {std::size_t{1}, std::size_t{2}})
        if (std::fabs(v[i][from]) > std::fabs(greatest) + 1e-6) greatest = v[i][from];
      for (std::size_t i = 0; i < 3; ++i)
        op.vectors.row<float>(r)[3 * i + c] =
            static_cast<float>(greatest < 0 ? -v[i][from] : v[i][from]);
    }
  }
}

}  // namespace biogpu::ops
