#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "lib/models/proteinmpnn/inputs/complex.hpp"

namespace biogpu::models::proteinmpnn {

// What a design of one structure may and may not do.
struct Constraints {
  std::vector<std::uint8_t> free;  // [n] 1 where a letter is drawn: designed, not fixed, present
  std::array<std::uint8_t, kLetterCount> omit{};  // 1: never drawn
  std::array<double, kLetterCount> bias{};        // added to the logits, over the temperature
  std::vector<std::uint8_t> omit_at;              // [n][21] the same of one residue; or empty
  std::vector<float> bias_at;                     // [n][21], or empty
  std::vector<ProfileRow> profiles;               // [n], or empty
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

}  // namespace biogpu::models::proteinmpnn
