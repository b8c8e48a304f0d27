#include "lib/models/tensornet/pair_terms/pair_terms.hpp"

#include <cstddef>

#include "lib/models/tensornet/pair_terms/coulomb.hpp"
#include "lib/models/tensornet/pair_terms/dispersion.hpp"
#include "lib/models/tensornet/pair_terms/zbl.hpp"

namespace biogpu::models::tensornet {

PairTerms make_pair_terms(const Config& config, const HostWeights& weights) {
  PairTerms terms;
  if (config.has_repulsion)
    terms.push_back(
        make_repulsion(weights.repulsion, {config.cutoff_lower, config.cutoff_upper}, weights.std));
  for (std::size_t k = 0; k < config.priors.size(); ++k) {
    const Prior& prior = config.priors[k];
    if (prior.kind == Prior::Kind::zbl) terms.push_back(make_zbl(prior));
    if (prior.kind == Prior::Kind::d2)
      terms.push_back(make_dispersion(prior, weights.dispersions.at(k)));
    if (prior.kind == Prior::Kind::coulomb) terms.push_back(make_coulomb(prior));
  }
  return terms;
}

}  // namespace biogpu::models::tensornet
