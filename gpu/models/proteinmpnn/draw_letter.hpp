#pragma once

// Draws of letters by one wave, a lane a letter, in double precision and with sums in the order of
// the letters, as lib/models/proteinmpnn/ops/draw_letter.cpp does it.

#include "gpu/models/proteinmpnn/decoder.hpp"
#include "gpu/prim/wave.hpp"

namespace biogpu::gpu::proteinmpnn {

template <int kWave>
__device__ __forceinline__ double sum_in_order(double p) {
  double sum = 0;
  for (int a = 0; a < kLetters; ++a) sum += wave_shuffle<kWave>(p, a);
  return sum;
}

template <int kWave>
__device__ __forceinline__ double scaled_to_one(double p) {
  const double sum = sum_in_order<kWave>(p);
  return sum > 0 ? p / sum : 0;
}

// The probability that this lane's letter is drawn for residue i. scaled: its logit over the
// temperature. Lanes without a letter give 0.
template <int kWave>
__device__ inline double letter_probability(const RuleRows& rows, const Sequence& sequence, int i,
                                            float scaled) {
  const Rules& rules = rows.rules[sequence.rules];
  const int lane = wave_lane<kWave>(), a = lane < kLetters ? lane : 0;
  const double temperature = sequence.temperature;
  double p = static_cast<double>(scaled - (rules.omit[a] != 0 ? 1e8f : 0.0f)) +
             rules.bias[a] / temperature;
  if (rules.bias_at >= 0)
    p += static_cast<double>(rows.bias_at[(std::int64_t{rules.bias_at} + i) * kLetters + a]) /
         temperature;
  const double highest = wave_max<kWave>(p);
  p = scaled_to_one<kWave>(lane < kLetters ? exp(p - highest) : 0.0);
  if (rules.profiles >= 0) {
    const ProfileRow& profile = rows.profiles[rules.profiles + i];
    const float share = rules.profile_weight * profile.weight;
    if (rules.use_profile_bias != 0)
      p = static_cast<double>(1.0f - share) * p + static_cast<double>(share * profile.bias[a]);
    if (rules.use_log_odds != 0) {
      p *= (profile.log_odds[a] > rules.log_odds_threshold ? 1.0 : 0.0) + 0.001;
      p = scaled_to_one<kWave>(lane < kLetters ? p : 0.0);
    }
  }
  if (rules.omit_at >= 0) {
    if (rows.omit_at[(std::int64_t{rules.omit_at} + i) * kLetters + a] != 0) p = 0;
    p = scaled_to_one<kWave>(lane < kLetters ? p : 0.0);
  }
  return lane < kLetters ? p : 0;
}

// The letter at which the running sum of probabilities passes uniform, in every lane; kNoLetter
// where all are 0.
template <int kWave>
__device__ inline int drawn_letter(double p, double uniform) {
  if (!(wave_max<kWave>(p) > 0)) return kNoLetter;
  double sum = 0;
  int last = 0, letter = -1;
  for (int a = 0; a < kLetters; ++a) {
    const double of_letter = wave_shuffle<kWave>(p, a);
    sum += of_letter;
    if (of_letter > 0) last = a;
    if (letter < 0 && sum > uniform) letter = a;
  }
  return letter < 0 ? last : letter;  // the sum may end a rounding error below 1
}

}  // namespace biogpu::gpu::proteinmpnn
