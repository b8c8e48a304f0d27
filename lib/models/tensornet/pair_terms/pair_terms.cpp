#include "lib/models/tensornet/pair_terms/pair_terms.hpp"

#include "lib/models/tensornet/pair_terms/zbl.hpp"

namespace biogpu::models::tensornet {

PairTerms make_pair_terms(const Config& config, const HostWeights& weights) {
  PairTerms terms;
  if (config.has_repulsion)
    terms.push_back(
        make_repulsion(weights.repulsion, {config.cutoff_lower, config.cutoff_upper}, weights.std));
  for (const Prior& prior : config.priors)
    if (prior.kind == Prior::Kind::zbl) terms.push_back(make_zbl(prior));
  return terms;
}

}  // namespace biogpu::models::tensornet
