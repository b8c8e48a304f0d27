#pragma once

#include <cstdint>

namespace biogpu::molecule {

// Standard atomic weight in dalton (IUPAC 2016, abridged; of elements without one the mass of the
// isotope that lives longest). Atomic numbers from 1 to structure::kMaxAtomicNumber.
double atomic_mass(std::int32_t atomic_number);

}  // namespace biogpu::molecule
