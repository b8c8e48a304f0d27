#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "lib/models/proteinmpnn/complex.hpp"

namespace biogpu::models::proteinmpnn {

// A position-specific matrix of a designed residue.
struct Profile {
  float weight = 0;                            // share of bias in the probabilities
  std::array<float, kLetterCount> bias{};      // probabilities
  std::array<float, kLetterCount> log_odds{};  // letters above the threshold are likely
};

// What a design of one structure may and may not do.
struct Constraints {
  std::vector<std::uint8_t> free;  // [n] 1 where a letter is drawn: designed, not fixed, present
  std::array<std::uint8_t, kLetterCount> omit{};  // 1: never drawn
  std::array<double, kLetterCount> bias{};        // added to the logits, over the temperature
  std::vector<std::uint8_t> omit_at;              // [n][21] the same of one residue; or empty
  std::vector<float> bias_at;                     // [n][21], or empty
  std::vector<Profile> profiles;                  // [n], or empty
  float profile_weight = 0;                       // of all profiles' biases
  bool use_profile_bias = false;
  bool use_log_odds = false;
  float log_odds_threshold = 0;
  // Groups of residues that get one letter, and each residue's weight in its group.
  std::vector<std::vector<std::int32_t>> tied;
  std::vector<float> tied_weight;  // [n], or empty: all 1
};

// No constraint beyond the designed chains.
Constraints free_design(const Complex& complex);

// The probabilities that a letter of residue i is drawn from. scaled: logits over the temperature.
// All 0 where every letter is omitted.
std::array<double, kLetterCount> letter_probabilities(const Constraints& constraints,
                                                      std::int64_t i, const float* scaled,
                                                      double temperature);

// The letter at which the running sum of probabilities passes uniform.
int draw_letter(const std::array<double, kLetterCount>& probabilities, double uniform);

}  // namespace biogpu::models::proteinmpnn
