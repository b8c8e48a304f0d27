#pragma once

#include "lib/models/tensornet/pair_terms/pair_term.hpp"
#include "lib/models/tensornet/weights/config.hpp"
#include "lib/models/tensornet/weights/host_weights.hpp"

namespace biogpu::models::tensornet {

// Those of a checkpoint: its priors and its repulsion.
PairTerms make_pair_terms(const Config& config, const HostWeights& weights);

}  // namespace biogpu::models::tensornet
