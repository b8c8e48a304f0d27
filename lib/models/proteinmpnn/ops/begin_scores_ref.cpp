#include <algorithm>

#include "lib/models/proteinmpnn/ops/begin_scores.hpp"

namespace biogpu::models::proteinmpnn {

void begin_scores_ref(const BeginScores& op) {
  const std::int64_t n_rows = op.rows.shape[0], k = op.rows.shape[1];
  for (std::int64_t s = 0; s < op.state_h.shape[0]; ++s) {
    const Sequence& sequence = op.sequences[op.sequence_of.as<std::int32_t>()[s]];
    const std::int64_t row = op.state_rows.as<std::int32_t>()[s];
    std::int32_t letter = op.letters.as<std::int32_t>()[op.letter_states.as<std::int32_t>()[s]];
    if (letter == kNoLetter) letter = 0;
    const float* const from = op.node_proj.row<float>(row);
    float* const to = op.node_proj.row<float>(n_rows + op.first_state + s);
    const float* const added = op.table.row<float>(letter);
    for (int c = 0; c < 2 * kHidden; ++c) to[c] = from[c] + added[c];
    std::copy_n(op.h.row<float>(row), kHidden, op.state_h.row<float>(s));
    op.ids.as<std::int32_t>()[s] = letter;
    const std::int32_t* const rank = op.rank.as<std::int32_t>() + sequence.first_state;
    for (std::int64_t e = 0; e < k; ++e) {
      const std::int32_t j = op.rows.row<std::int32_t>(row)[e], residue = j - sequence.first_row;
      const bool before = rank[residue] < rank[row - sequence.first_row];
      op.senders.row<std::int32_t>(s)[e] =
          before ? static_cast<std::int32_t>(n_rows) + sequence.first_state + residue : j;
    }
  }
}

}  // namespace biogpu::models::proteinmpnn
