#pragma once

#include <array>
#include <cmath>
#include <memory>
#include <vector>

#include "lib/models/base/potential_model.hpp"

namespace biogpu::test {

// A potential of a few lines for tests of what works with any PotentialModel: argon and krypton
// with 4 e ((s/r)^12 - (s/r)^6), shifted and bent so that energy and force are 0 at the cutoff.
class LennardJones final : public models::PotentialModel {
 public:
  explicit LennardJones(std::unique_ptr<tensor::Context> context =
                            tensor::make_dry_run_context(tensor::Precision::fp32))
      : PotentialModel(*context), context_(std::move(context)) {
    info_.architecture = "Lennard-Jones";
    info_.dialect = "test";
    info_.energy_unit = "eV";
    info_.cutoff = 8.5;
    info_.images = models::Images::all;
    info_.elements = {18, 36};
  }

  std::string describe() const override { return "architecture\tLennard-Jones\n"; }

  std::vector<models::PotentialResult> compute(std::span<const models::AtomSystem> systems,
                                               const Request& request) override {
    std::vector<models::PotentialResult> results;
    for (const models::AtomSystem& system : systems) results.push_back(one(system, request));
    return results;
  }

 private:
  struct Pair {
    double energy, slope;
  };
  Pair pair(int a, int b, double r) const {
    const auto size = [](int z) { return z == 18 ? 3.4 : 3.65; };
    const double sigma = (size(a) + size(b)) / 2, depth = a == b ? 0.0104 : 0.012;
    const auto plain = [&](double x) {
      const double s6 = std::pow(sigma / x, 6);
      return Pair{4 * depth * (s6 * s6 - s6), -24 * depth * (2 * s6 * s6 - s6) / x};
    };
    const Pair here = plain(r), end = plain(info_.cutoff);
    return {here.energy - end.energy - end.slope * (r - info_.cutoff), here.slope - end.slope};
  }

  models::PotentialResult one(const models::AtomSystem& system, const Request& request) const {
    const std::size_t n = system.n_atoms();
    const models::Box* const box = system.box ? &*system.box : nullptr;
    const models::PairList found =
        system.pairs ? *system.pairs : models::find_pairs(system.positions, box, info_.cutoff);
    models::PotentialResult result;
    std::vector<double> energies(n), forces(3 * n);
    for (std::size_t i = 0; i < n; ++i)
      for (auto e = static_cast<std::size_t>(found.starts[i]);
           e < static_cast<std::size_t>(found.starts[i + 1]); ++e) {
        const auto j = static_cast<std::size_t>(found.neighbours[e]);
        const auto shift = box ? found.shifts[e] : std::array<std::int32_t, 3>{};
        const auto r = models::displacement_of(system.positions.data() + 3 * i,
                                               system.positions.data() + 3 * j, shift, box);
        const double d = std::hypot(r[0], r[1], r[2]);
        if (d >= info_.cutoff) continue;
        const Pair of = pair(system.atomic_numbers[i], system.atomic_numbers[j], d);
        energies[i] += of.energy / 2;
        for (std::size_t k = 0; k < 3; ++k) {
          forces[3 * i + k] -= of.slope * r[k] / d;
          for (std::size_t l = 0; l < 3; ++l)
            result.virial[3 * k + l] += of.slope * r[k] * r[l] / d / 2;
        }
      }
    for (const double energy : energies) result.energy += energy;
    if (request.forces) result.forces = std::move(forces);
    if (request.atom_energies) result.atom_energies = std::move(energies);
    if (!request.virial) result.virial = {};
    return result;
  }

  std::unique_ptr<tensor::Context> context_;
};

}  // namespace biogpu::test
