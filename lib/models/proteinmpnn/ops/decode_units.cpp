#include "lib/models/proteinmpnn/ops/decode_units.hpp"

#include <algorithm>

namespace biogpu::models::proteinmpnn {

void log_softmax_letters(const float* logits, float* out) {
  const float highest = *std::max_element(logits, logits + kLetterCount);
  double sum = 0;
  for (int a = 0; a < kLetterCount; ++a) sum += std::exp(static_cast<double>(logits[a] - highest));
  const auto log_sum = static_cast<float>(std::log(sum));
  for (int a = 0; a < kLetterCount; ++a) out[a] = logits[a] - highest - log_sum;
}

void begin_states(const Decode& op) {
  std::fill_n(op.probabilities.as<float>(), op.probabilities.size(), 0.0f);
  for (std::int64_t u = 0; u < op.n_units; ++u) {
    const Unit& unit = op.units[u];
    const Sequence& sequence = op.sequences[unit.sequence];
    for (std::int32_t m = 0; m < unit.n; ++m) {
      const std::int64_t i = member_of(op, unit, m), state = sequence.first_state + i;
      std::fill_n(state_node_proj(op, state, 0), kNodeProj, 0.0f);
      std::copy_n(row_node_proj(op, sequence.first_row + i, 0) + kHidden, kHidden,
                  state_node_proj(op, state, 0) + kHidden);
      // Where nothing is computed the model's output is that of an empty state.
      log_softmax_letters(op.logit_bias.as<float>(), op.log_probabilities.row<float>(state));
    }
  }
}

void take_logits(const Decode& op, const Unit& unit, std::int64_t i, const float* logits,
                 UnitProgress& progress) {
  const Sequence& sequence = op.sequences[unit.sequence];
  log_softmax_letters(logits, op.log_probabilities.row<float>(sequence.first_state + i));
  const auto temperature = static_cast<float>(sequence.temperature);
  const auto members = static_cast<float>(unit.n);
  const float weight = op.rules.tied_weight[sequence.first_row + i];
  for (std::size_t a = 0; a < kLetterCount; ++a)
    progress.scaled[a] += weight * (logits[a] / temperature) / members;
}

void finish_unit(const Decode& op, const Unit& unit, const UnitProgress& progress) {
  const Sequence& sequence = op.sequences[unit.sequence];
  const std::int64_t last = member_of(op, unit, unit.n - 1);
  auto* const letters = op.letters.as<std::int32_t>() + sequence.first_state;
  const bool drawn = progress.known < 0;
  int letter = progress.known;
  std::array<double, kLetterCount> p{};
  if (drawn) {
    p = letter_probabilities(op.rules, sequence, last, progress.scaled.data());
    letter = op.rules.free[sequence.first_row + last] == 0
                 ? letters[last]
                 : draw_letter(p, op.uniforms.as<double>()[sequence.first_state + last]);
  }
  const bool is_tied = op.rules.rules[sequence.rules].is_tied != 0;
  for (std::int32_t m = 0; m < unit.n; ++m) {
    const std::int64_t i = member_of(op, unit, m), state = sequence.first_state + i;
    letters[i] = letter;
    op.drawn.as<float>()[state] = static_cast<float>(letter);
    for (int l = 0; l < kLayers; ++l) {
      const float* const added = op.layer[l].letters.row<float>(letter == kNoLetter ? 0 : letter);
      float* const to = state_node_proj(op, state, l);
      for (int c = kHidden; c < 2 * kHidden; ++c) to[c] += added[c];
    }
    if (drawn && (is_tied || op.rules.free[sequence.first_row + i] != 0))
      for (std::size_t a = 0; a < kLetterCount; ++a)
        op.probabilities.row<float>(state)[a] = static_cast<float>(p[a]);
  }
}

}  // namespace biogpu::models::proteinmpnn
