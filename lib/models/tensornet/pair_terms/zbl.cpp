#include "lib/models/tensornet/pair_terms/zbl.hpp"

#include <cmath>
#include <cstddef>
#include <numbers>
#include <utility>
#include <vector>

namespace biogpu::models::tensornet {
namespace {

// A function of the distance and its slope.
struct Function {
  double value = 0, slope = 0;
};

Function product(const Function& a, const Function& b) {
  return {a.value * b.value, a.slope * b.value + a.value * b.slope};
}

// phi(x): what the electrons leave of the charges at x screening lengths.
Function screening(double x) {
  constexpr double kShare[4] = {0.1818, 0.5099, 0.2802, 0.02817};
  constexpr double kDecay[4] = {3.2, 0.9423, 0.4029, 0.2016};
  Function sum;
  for (int k = 0; k < 4; ++k) {
    const double part = kShare[k] * std::exp(-kDecay[k] * x);
    sum.value += part;
    sum.slope -= kDecay[k] * part;
  }
  return sum;
}

// factor phi(d / length) / d
Function repulsion(double factor, double length, double d) {
  const Function phi = screening(d / length);
  return product({factor / d, -factor / (d * d)}, {phi.value, phi.slope / length});
}

class Zbl final : public PairTerm {
 public:
  explicit Zbl(const Prior& prior)
      : PairTerm({0, prior.cutoff}),
        // torchmd-net's numbers: e^2 / (4 pi epsilon_0) in J m, and the Bohr radius in m.
        coulomb_(2.30707755e-28 / prior.joules_per_energy / prior.metres_per_length),
        length_(0.8854 * 5.29177210903e-11 / prior.metres_per_length) {
    for (const std::int32_t z : prior.atomic_numbers) {
      numbers_.push_back(z);
      powers_.push_back(std::pow(z, 0.23));
    }
  }

  Value value_of(const Atom& a, const Atom& b, double d) const override {
    const auto i = static_cast<std::size_t>(a.type), j = static_cast<std::size_t>(b.type);
    const double angle = std::numbers::pi / range().upper;
    const Function cutoff{0.5 * (std::cos(angle * d) + 1), -0.5 * angle * std::sin(angle * d)};
    const Function pair = product(
        repulsion(coulomb_ * numbers_[i] * numbers_[j], length_ / (powers_[i] + powers_[j]), d),
        cutoff);
    return {pair.value, pair.slope};
  }

 private:
  const double coulomb_, length_;  // in the units of the checkpoint
  std::vector<double> numbers_, powers_;
};

// From 1 at 0 to 0 at 1, where two slopes are 0 too.
Function envelope(double x) {
  constexpr double p = 6;
  if (x >= 1) return {};
  const double power = std::pow(x, p - 1);
  return {1 - power * x * ((p + 1) * (p + 2) / 2 - x * (p * (p + 2) - x * p * (p + 1) / 2)),
          -p * (p + 1) * (p + 2) / 2 * power * (1 - x) * (1 - x)};
}

class Repulsion final : public PairTerm {
 public:
  Repulsion(const HostRepulsion& tables, Range range, double factor)
      : PairTerm(range), tables_(tables), factor_(factor) {}

  Value value_of(const Atom& a, const Atom& b, double d) const override {
    // torchmd-net's numbers: e^2 / (4 pi epsilon_0) in eV Angstrom, and Bohr radii in an Angstrom.
    constexpr double kCoulomb = 14.399645, kLength = 0.4543 * (1 / 1.8897261258369282);
    const std::size_t n = tables_.powers.size(), i = static_cast<std::size_t>(a.type),
                      j = static_cast<std::size_t>(b.type);
    const double end = tables_.cutoffs[i * n + j];
    const Function cutoff = envelope(d / end);
    if (cutoff.value == 0) return {};
    const Function pair = product(repulsion(factor_ * kCoulomb * tables_.products[i * n + j],
                                            kLength / (tables_.powers[i] + tables_.powers[j]), d),
                                  {cutoff.value, cutoff.slope / end});
    return {pair.value, pair.slope};
  }

 private:
  const HostRepulsion tables_;
  const double factor_;
};

}  // namespace

std::unique_ptr<PairTerm> make_zbl(const Prior& prior) { return std::make_unique<Zbl>(prior); }

std::unique_ptr<PairTerm> make_repulsion(const HostRepulsion& tables, PairTerm::Range range,
                                         double factor) {
  return std::make_unique<Repulsion>(tables, range, factor);
}

}  // namespace biogpu::models::tensornet
