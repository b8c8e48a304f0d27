#include "lib/models/tensornet/pair_terms/dispersion.hpp"

#include <cmath>
#include <cstddef>
#include <vector>

namespace biogpu::models::tensornet {
namespace {

class Dispersion final : public PairTerm {
 public:
  Dispersion(const Prior& prior, const HostDispersion& elements) : PairTerm({0, prior.cutoff}) {
    // Tables are of nm and J/mol.
    const double nm = prior.metres_per_length * 1e9,
                 joules_per_mol = prior.joules_per_energy * 6.02214076e23;
    for (const std::int32_t z : prior.atomic_numbers) {
      // Types of other numbers are not the model's.
      const std::size_t element = z < kDispersionElements ? static_cast<std::size_t>(z) : 0;
      const double c6 = elements.c6[element] / joules_per_mol / std::pow(nm, 6);
      roots_.push_back(std::sqrt(c6));
      radii_.push_back(elements.radii[element] / nm);
    }
  }

  Value value_of(const Atom& a, const Atom& b, double d) const override {
    constexpr double kSteepness = 20;
    const auto i = static_cast<std::size_t>(a.type), j = static_cast<std::size_t>(b.type);
    const double steepness = kSteepness / (radii_[i] + radii_[j]);
    const double damping = 1 / (1 + std::exp(kSteepness - steepness * d));
    const double energy = -roots_[i] * roots_[j] / std::pow(d, 6) * damping;
    return {energy, energy * (steepness * (1 - damping) - 6 / d)};
  }

 private:
  std::vector<double> roots_, radii_;  // by type, in the units of the checkpoint
};

}  // namespace

std::unique_ptr<PairTerm> make_dispersion(const Prior& prior, const HostDispersion& elements) {
  return std::make_unique<Dispersion>(prior, elements);
}

}  // namespace biogpu::models::tensornet
