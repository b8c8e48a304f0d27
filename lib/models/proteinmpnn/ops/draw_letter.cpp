#include "lib/models/proteinmpnn/ops/draw_letter.hpp"

#include <algorithm>
#include <cmath>

namespace biogpu::models::proteinmpnn {
namespace {

using Letters = std::array<double, kLetterCount>;

constexpr float kOmitted = 1e8f;
constexpr double kUnlikely = 0.001;  // what log odds below the threshold leave of a probability

void scale_to_one(Letters& p) {
  double sum = 0;
  for (const double x : p) sum += x;
  for (double& x : p) x = sum > 0 ? x / sum : 0;
}

void apply_profile(const Rules& rules, const ProfileRow& profile, Letters& p) {
  if (rules.use_profile_bias != 0) {
    const float share = rules.profile_weight * profile.weight;
    for (std::size_t a = 0; a < p.size(); ++a)
      p[a] =
          static_cast<double>(1.0f - share) * p[a] + static_cast<double>(share * profile.bias[a]);
  }
  if (rules.use_log_odds != 0) {
    for (std::size_t a = 0; a < p.size(); ++a)
      p[a] *= (profile.log_odds[a] > rules.log_odds_threshold ? 1.0 : 0.0) + kUnlikely;
    scale_to_one(p);
  }
}

}  // namespace

Letters letter_probabilities(const RuleRows& rows, const Sequence& sequence, std::int64_t i,
                             const float* scaled) {
  const Rules& rules = rows.rules[sequence.rules];
  const double temperature = sequence.temperature;
  Letters p;
  for (std::size_t a = 0; a < p.size(); ++a) {
    p[a] = static_cast<double>(scaled[a] - (rules.omit[a] != 0 ? kOmitted : 0.0f)) +
           rules.bias[a] / temperature;
    if (rules.bias_at >= 0)
      p[a] += static_cast<double>(
                  rows.bias_at[(rules.bias_at + i) * kLetterCount + static_cast<std::int64_t>(a)]) /
              temperature;
  }
  const double highest = *std::max_element(p.begin(), p.end());
  for (double& x : p) x = std::exp(x - highest);
  scale_to_one(p);
  if (rules.profiles >= 0) apply_profile(rules, rows.profiles[rules.profiles + i], p);
  if (rules.omit_at >= 0) {
    const std::uint8_t* const omit = rows.omit_at + (rules.omit_at + i) * kLetterCount;
    for (std::size_t a = 0; a < p.size(); ++a)
      if (omit[a] != 0) p[a] = 0;
    scale_to_one(p);
  }
  return p;
}

int draw_letter(const Letters& probabilities, double uniform) {
  if (!(*std::max_element(probabilities.begin(), probabilities.end()) > 0)) return kNoLetter;
  double sum = 0;
  int last = 0;
  for (std::size_t a = 0; a < probabilities.size(); ++a) {
    sum += probabilities[a];
    if (probabilities[a] > 0) last = static_cast<int>(a);
    if (sum > uniform) return static_cast<int>(a);
  }
  return last;  // the sum may end a rounding error below 1
}

}  // namespace biogpu::models::proteinmpnn
