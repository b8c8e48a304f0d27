#include "lib/models/proteinmpnn/network/rule_table.hpp"

#include <algorithm>

namespace biogpu::models::proteinmpnn {
namespace {

template <class T>
void append(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

void RuleTable::add(const Constraints& constraints) {
  Rules own;
  std::copy(constraints.bias.begin(), constraints.bias.end(), own.bias);
  std::copy(constraints.omit.begin(), constraints.omit.end(), own.omit);
  own.is_tied = constraints.tied.empty() ? 0 : 1;
  own.use_profile_bias = constraints.use_profile_bias ? 1 : 0;
  own.use_log_odds = constraints.use_log_odds ? 1 : 0;
  own.profile_weight = constraints.profile_weight;
  own.log_odds_threshold = constraints.log_odds_threshold;
  if (!constraints.omit_at.empty())
    own.omit_at = static_cast<std::int32_t>(omit_at.size() / kLetterRow);
  if (!constraints.bias_at.empty())
    own.bias_at = static_cast<std::int32_t>(bias_at.size() / kLetterRow);
  if (!constraints.profiles.empty()) own.profiles = static_cast<std::int32_t>(profiles.size());
  rules.push_back(own);
  append(free, constraints.free);
  append(omit_at, constraints.omit_at);
  append(bias_at, constraints.bias_at);
  append(profiles, constraints.profiles);
  append(tied_weight, constraints.tied_weight);
  if (constraints.tied_weight.empty()) tied_weight.resize(free.size(), 1.0f);
}

}  // namespace biogpu::models::proteinmpnn
