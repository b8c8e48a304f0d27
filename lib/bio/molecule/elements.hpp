#pragma once

#include <cstdint>
#include <string_view>

namespace biogpu::molecule {

inline constexpr std::int32_t kMaxAtomicNumber = 118;

// The atomic number of a symbol in any case ("Cl", "CL"), or 0 for a name of no element. Names of
// isotopes (D, T) and dummy atoms are none.
std::int32_t find_element(std::string_view symbol);

// Of an atomic number from 1 to kMaxAtomicNumber: "Cl".
std::string_view element_symbol(std::int32_t atomic_number);

// Standard atomic weight in dalton (IUPAC 2016, abridged; of elements without one the mass of the
// isotope that lives longest).
double atomic_mass(std::int32_t atomic_number);

}  // namespace biogpu::molecule
