#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace biogpu::models::molscribe {

// SMILES of a condensed formula or an abbreviation ("CO2Me", "NHBoc", "(CH2)3CH3") that has
// n_bonds bonds to the rest of a molecule. Atoms are filled up by their valences from the left, and
// where that fails from the right. Nothing where it cannot be read, or has more than 20 characters.
// Throws std::runtime_error for a formula on which the original's program ends with an exception.
std::optional<std::string> formula_smiles(std::string_view symbol, int n_bonds);

}  // namespace biogpu::models::molscribe
