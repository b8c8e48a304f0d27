#pragma once

#include "lib/models/tensornet/pair_terms/pair_term.hpp"
#include "lib/models/tensornet/weights/config.hpp"
#include "lib/models/tensornet/weights/host_weights.hpp"

namespace biogpu::models::tensornet {

// The terms of a checkpoint: first its repulsion, if it has one, then its priors.
PairTerms make_pair_terms(const Config& config, const HostWeights& weights);

}  // namespace biogpu::models::tensornet
