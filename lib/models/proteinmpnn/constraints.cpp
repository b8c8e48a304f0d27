#include "lib/models/proteinmpnn/constraints.hpp"

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

void apply_profile(const Constraints& c, const Profile& profile, Letters& p) {
  if (c.use_profile_bias) {
    const float share = c.profile_weight * profile.weight;
    for (std::size_t a = 0; a < p.size(); ++a)
      p[a] =
          static_cast<double>(1.0f - share) * p[a] + static_cast<double>(share * profile.bias[a]);
  }
  if (c.use_log_odds) {
    for (std::size_t a = 0; a < p.size(); ++a)
      p[a] *= (profile.log_odds[a] > c.log_odds_threshold ? 1.0 : 0.0) + kUnlikely;
    scale_to_one(p);
  }
}

}  // namespace

Constraints free_design(const Complex& complex) {
  Constraints constraints;
  for (std::size_t i = 0; i < complex.present.size(); ++i)
    constraints.free.push_back(complex.designed[i] != 0 && complex.present[i] != 0 ? 1 : 0);
  return constraints;
}

Letters letter_probabilities(const Constraints& constraints, std::int64_t i, const float* scaled,
                             double temperature) {
  const auto at = static_cast<std::size_t>(i), width = static_cast<std::size_t>(kLetterCount);
  Letters p;
  for (std::size_t a = 0; a < p.size(); ++a) {
    p[a] = static_cast<double>(scaled[a] - (constraints.omit[a] != 0 ? kOmitted : 0.0f)) +
           constraints.bias[a] / temperature;
    if (!constraints.bias_at.empty())
      p[a] += static_cast<double>(constraints.bias_at[at * width + a]) / temperature;
  }
  const double highest = *std::max_element(p.begin(), p.end());
  for (double& x : p) x = std::exp(x - highest);
  scale_to_one(p);
  if (!constraints.profiles.empty()) apply_profile(constraints, constraints.profiles[at], p);
  if (!constraints.omit_at.empty()) {
    for (std::size_t a = 0; a < p.size(); ++a)
      if (constraints.omit_at[at * width + a] != 0) p[a] = 0;
    scale_to_one(p);
  }
  return p;
}

int draw_letter(const Letters& probabilities, double uniform) {
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
