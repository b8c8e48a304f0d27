#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "lib/models/base/potential_model.hpp"

namespace biogpu::models::tensornet {

// Systems with this box where they have none; nothing where there is no such box. A list of their
// pairs lacks those across the box and is left out.
std::vector<AtomSystem> with_box(std::span<const AtomSystem> systems,
                                 const std::optional<Box>& box);

// The mean of atoms' energies instead of their sum, as torchmd-net takes it, with a zero among
// them: it divides by one more than the atoms. The offset belongs to no atom.
void take_mean(std::size_t n_atoms, double offset, PotentialResult& result);

}  // namespace biogpu::models::tensornet
