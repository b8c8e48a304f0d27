#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "lib/core/error.hpp"
#include "lib/models/base/potential_model.hpp"
#include "tests/models/potential/lennard_jones.hpp"

namespace biogpu::test {

// Each atom on a spring to the origin, with a curvature for each axis: x(t) is known.
class Springs final : public models::PotentialModel {
 public:
  explicit Springs(std::array<double, 3> curvatures,
                   std::unique_ptr<tensor::Context> context =
                       tensor::make_dry_run_context(tensor::Precision::fp32))
      : PotentialModel(*context), context_(std::move(context)), curvatures_(curvatures) {
    info_.architecture = "springs";
    info_.energy_unit = "kcal/mol";
    info_.ev_per_energy = models::kEvPerKcalMol;
    info_.cutoff = 1;
    info_.elements = {1, 6, 8};
  }

  std::string describe() const override { return "architecture\tsprings\n"; }

  std::vector<models::PotentialResult> compute(std::span<const models::AtomSystem> systems,
                                               const Request&) override {
    std::vector<models::PotentialResult> results;
    for (const models::AtomSystem& system : systems) {
      models::PotentialResult& result = results.emplace_back();
      for (std::size_t i = 0; i < system.positions.size(); ++i) {
        // In units of the model; curvatures_ are in eV/Angstrom^2.
        const double k = curvatures_[i % 3] / info_.ev_per_energy, x = system.positions[i];
        result.energy += 0.5 * k * x * x;
        result.forces.push_back(-k * x);
      }
    }
    return results;
  }

 private:
  std::unique_ptr<tensor::Context> context_;
  std::array<double, 3> curvatures_;
};

// The text of the Error that is thrown; empty where none is.
template <class Act>
std::string potential_error(const Act& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

// No forces, and an energy that falls with the logarithm of the volume; NaN where it is told.
class Squeeze final : public models::PotentialModel {
 public:
  enum class Breaks { never, energy, force, virial };
  // first_bad: the call, from 0, from which on a number is NaN.
  explicit Squeeze(Breaks breaks, int first_bad = 0,
                   std::unique_ptr<tensor::Context> context =
                       tensor::make_dry_run_context(tensor::Precision::fp32))
      : PotentialModel(*context),
        context_(std::move(context)),
        breaks_(breaks),
        first_bad_(first_bad) {
    info_.energy_unit = "eV";
    info_.cutoff = 2;
    info_.elements = {1};
  }

  std::string describe() const override { return "architecture\tsqueeze\n"; }
  int n_calls() const { return n_calls_; }

  std::vector<models::PotentialResult> compute(std::span<const models::AtomSystem> systems,
                                               const Request& request) override {
    const bool bad = n_calls_++ >= first_bad_;
    std::vector<models::PotentialResult> results;
    for (const models::AtomSystem& system : systems) {
      models::PotentialResult& result = results.emplace_back();
      if (system.box) result.energy = 10 * std::log(models::volume_of(*system.box));
      result.forces.assign(system.positions.size(), 0);
      if (request.virial) result.virial = {10, 0, 0, 0, 10, 0, 0, 0, 10};
      if (bad && breaks_ == Breaks::energy) result.energy = std::nan("");
      if (bad && breaks_ == Breaks::force) result.forces.back() = std::nan("");
      if (bad && breaks_ == Breaks::virial) result.virial[8] = std::nan("");
    }
    return results;
  }

 private:
  std::unique_ptr<tensor::Context> context_;
  Breaks breaks_;
  int first_bad_, n_calls_ = 0;
};

// Argon and krypton near the sites of a face-centred lattice; without a box a cluster.
inline models::AtomSystem rare_gas(int n_cells, double constant, double noise, bool with_box,
                                   unsigned seed = 1) {
  models::AtomSystem system;
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> draw(-noise, noise);
  constexpr double kSites[4][3] = {{0, 0, 0}, {0, 0.5, 0.5}, {0.5, 0, 0.5}, {0.5, 0.5, 0}};
  for (int cell = 0; cell < n_cells * n_cells * n_cells; ++cell)
    for (const auto& site : kSites) {
      const int at[3] = {cell % n_cells, cell / n_cells % n_cells, cell / n_cells / n_cells};
      for (std::size_t d = 0; d < 3; ++d)
        system.positions.push_back(constant * (at[d] + site[d]) + draw(generator));
      system.atomic_numbers.push_back(system.atomic_numbers.size() % 3 == 2 ? 36 : 18);
    }
  const double length = constant * n_cells;
  if (with_box) system.box = models::Box{length, 0, 0, 0, length, 0, 0, 0, length};
  return system;
}

}  // namespace biogpu::test
