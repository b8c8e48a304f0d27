#pragma once

#include <cstdint>
#include <vector>

// Features that rotate: representations of rotations and reflections as e3nn has them (Geiger and
// Smidt 2022, arXiv 2207.09453).
namespace biogpu::models {

// n copies of the 2 l + 1 numbers of order l; even: reflections leave scalars as they are.
struct Irrep {
  std::int64_t n = 0;
  int l = 0;
  bool is_even = true;
  std::int32_t d() const { return 2 * l + 1; }
  bool is_scalar() const { return l == 0 && is_even; }
};

// Numbers of a node or an edge: all copies of the first, then those of the next.
using Irreps = std::vector<Irrep>;
std::int64_t width_of(const Irreps& irreps);

// Whether numbers of a and b make numbers of c.
bool couples(const Irrep& a, const Irrep& b, const Irrep& c);

// How real numbers of orders l1 and l2 make those of l3, [2 l1 + 1][2 l2 + 1][2 l3 + 1], with a
// norm of 1: real Clebsch-Gordan coefficients in e3nn's basis, where a vector is (y, z, x).
std::vector<double> real_coupling(int l1, int l2, int l3);

}  // namespace biogpu::models
