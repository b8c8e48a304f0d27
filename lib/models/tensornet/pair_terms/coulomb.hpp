#pragma once

#include <memory>

#include "lib/models/tensornet/pair_terms/pair_term.hpp"
#include "lib/models/tensornet/weights/priors.hpp"

namespace biogpu::models::tensornet {

// Energy of the atoms' partial charges as torchmd-net's prior Coulomb has it: of all pairs, from 0
// at a short distance to its full size by a cosine.
std::unique_ptr<PairTerm> make_coulomb(const Prior& prior);

}  // namespace biogpu::models::tensornet
