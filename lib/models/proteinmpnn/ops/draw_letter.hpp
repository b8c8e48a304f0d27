#pragma once

#include <array>
#include <cstdint>

#include "lib/models/proteinmpnn/ops/decode.hpp"

namespace biogpu::models::proteinmpnn {

// The probabilities that a letter of residue i of a sequence is drawn from. scaled: its logits over
// the temperature. All 0 where every letter is omitted.
std::array<double, kLetterCount> letter_probabilities(const RuleRows& rows,
                                                      const Sequence& sequence, std::int64_t i,
                                                      const float* scaled);

// The letter at which the running sum of probabilities passes uniform; kNoLetter where all are 0.
int draw_letter(const std::array<double, kLetterCount>& probabilities, double uniform);

}  // namespace biogpu::models::proteinmpnn
