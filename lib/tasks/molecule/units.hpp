#pragma once

#include <array>
#include <string_view>

#include "lib/models/base/potential_model.hpp"

namespace biogpu::tasks {

// Lengths are in Angstrom, times in fs, masses in dalton, temperatures in K, energies in eV unless
// another unit is asked for (CODATA 2018).
inline constexpr double kBoltzmann = 8.617333262e-5;  // eV/K
// Angstrom/fs^2 of 1 dalton under 1 eV/Angstrom.
inline constexpr double kAcceleration = 9.648533212e-3;

struct EnergyUnit {
  const char* name;
  double ev;  // in one of it
};
inline constexpr std::array<EnergyUnit, 3> kEnergyUnits{
    {{"eV", 1}, {"kcal/mol", models::kEvPerKcalMol}, {"hartree", models::kEvPerHartree}}};

// One of kEnergyUnits by its name.
constexpr const EnergyUnit& find_energy_unit(std::string_view name) {
  for (const EnergyUnit& unit : kEnergyUnits)
    if (name == unit.name) return unit;
  return kEnergyUnits[0];
}

}  // namespace biogpu::tasks
