#pragma once

#include <memory>

#include "lib/models/tensornet/pair_terms/pair_term.hpp"
#include "lib/models/tensornet/weights/host_weights.hpp"

namespace biogpu::models::tensornet {

// Dispersion of DFT-D2 (Grimme 2006) as torchmd-net's prior D2 has it: it ends at the cutoff
// without a smooth step.
std::unique_ptr<PairTerm> make_dispersion(const Prior& prior, const HostDispersion& elements);

}  // namespace biogpu::models::tensornet
