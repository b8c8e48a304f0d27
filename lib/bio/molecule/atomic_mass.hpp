#pragma once

#include <cstdint>

namespace biogpu::molecule {

// Standard atomic weight in dalton (IUPAC 2016, abridged; of elements without one the mass of the
// isotope that lives longest). Atomic numbers from 1 to structure::kMaxAtomicNumber.
double atomic_mass(std::int32_t atomic_number);

// Mass in dalton of the isotope with this number of protons and neutrons (AME 2020). Of isotopes
// that the table does not have it is the number of nucleons, within 0.15 % of the mass from neon
// on; 0 where the element has no such isotope.
double isotope_mass(std::int32_t atomic_number, std::int32_t n_nucleons);

}  // namespace biogpu::molecule
