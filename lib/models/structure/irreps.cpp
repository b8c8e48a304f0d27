#include "lib/models/structure/irreps.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdlib>

namespace biogpu::models {
namespace {

using Complex = std::complex<double>;

double factorial(int n) { return std::tgamma(n + 1.0); }

// <l1 m1, l2 m2 | l3 m1 + m2> by Racah's sum.
double clebsch_gordan(int l1, int m1, int l2, int m2, int l3) {
  const int m3 = m1 + m2;
  const double size = (2 * l3 + 1) * factorial(l3 + l1 - l2) * factorial(l3 - l1 + l2) *
                      factorial(l1 + l2 - l3) * factorial(l3 + m3) * factorial(l3 - m3) /
                      (factorial(l1 + l2 + l3 + 1) * factorial(l1 - m1) * factorial(l1 + m1) *
                       factorial(l2 - m2) * factorial(l2 + m2));
  double sum = 0;
  const int first = std::max({0, m1 - l1, l2 - l1 + m3});
  const int last = std::min({l2 + l3 + m1, l3 - l1 + l2, l3 + m3});
  for (int v = first; v <= last; ++v) {
    const double term = factorial(l2 + l3 + m1 - v) * factorial(l1 - m1 + v) /
                        (factorial(v) * factorial(l3 - l1 + l2 - v) * factorial(l3 + m3 - v) *
                         factorial(v + l1 - l2 - m3));
    sum += (v + l2 + m2) % 2 == 0 ? term : -term;
  }
  return std::sqrt(size) * sum;
}

// What real number `real` of order l has of the complex one m, both from -l to l.
Complex real_part_of(int l, int m, int real) {
  if (std::abs(m) != std::abs(real)) return 0;
  const Complex turn = std::pow(Complex(0, -1), l);
  if (m == 0) return turn;
  const double sign = m > 0 && m % 2 != 0 ? -1 : 1;
  const Complex part = real > 0 ? Complex(1, 0) : Complex(0, m < 0 ? -1 : 1);
  return turn * sign * part / std::sqrt(2.0);
}

}  // namespace

std::int64_t width_of(const Irreps& irreps) {
  std::int64_t width = 0;
  for (const Irrep& irrep : irreps) width += irrep.n * irrep.d();
  return width;
}

bool couples(const Irrep& a, const Irrep& b, const Irrep& c) {
  return std::abs(a.l - b.l) <= c.l && c.l <= a.l + b.l && c.is_even == (a.is_even == b.is_even);
}

std::vector<double> real_coupling(int l1, int l2, int l3) {
  std::vector<double> numbers;
  double squares = 0;
  for (int r1 = -l1; r1 <= l1; ++r1)
    for (int r2 = -l2; r2 <= l2; ++r2)
      for (int r3 = -l3; r3 <= l3; ++r3) {
        Complex sum = 0;
        for (int m1 = -l1; m1 <= l1; ++m1)
          for (int m2 = -l2; m2 <= l2; ++m2)
            if (std::abs(m1 + m2) <= l3)
              sum += real_part_of(l1, m1, r1) * real_part_of(l2, m2, r2) *
                     std::conj(real_part_of(l3, m1 + m2, r3)) * clebsch_gordan(l1, m1, l2, m2, l3);
        numbers.push_back(sum.real());
        squares += sum.real() * sum.real();
      }
  for (double& number : numbers) number /= std::sqrt(squares);
  return numbers;
}

}  // namespace biogpu::models
