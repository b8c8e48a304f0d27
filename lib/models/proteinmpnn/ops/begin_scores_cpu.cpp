#include <algorithm>
#include <functional>

#include "lib/models/proteinmpnn/ops/begin_scores.hpp"
#include "lib/ops/cpu/cpu_context.hpp"

namespace biogpu::models::proteinmpnn {
namespace {

void begin_state(const BeginScores& op, std::int64_t s) {
  const auto n_rows = static_cast<std::int32_t>(op.rows.shape[0]);
  const Sequence& sequence = op.sequences[op.sequence_of.as<std::int32_t>()[s]];
  const std::int32_t row = op.state_rows.as<std::int32_t>()[s];
  const std::int32_t given = op.letters.as<std::int32_t>()[op.letter_states.as<std::int32_t>()[s]];
  const std::int32_t letter = given == kNoLetter ? 0 : given;
  op.ids.as<std::int32_t>()[s] = letter;
  const float* const from = op.node_proj.row<float>(row);
  std::transform(from, from + 2 * kHidden, op.table.row<float>(letter),
                 op.node_proj.row<float>(n_rows + op.first_state + s), std::plus<>());
  std::copy_n(op.h.row<float>(row), kHidden, op.state_h.row<float>(s));

  // Neighbours that come earlier have states; the others are read from the rows.
  const std::int32_t* const rank = op.rank.as<std::int32_t>() + sequence.first_state;
  const std::int32_t own = rank[row - sequence.first_row];
  const std::int32_t to_state = n_rows + sequence.first_state - sequence.first_row;
  const std::int32_t* const neighbours = op.rows.row<std::int32_t>(row);
  std::transform(
      neighbours, neighbours + op.rows.shape[1], op.senders.row<std::int32_t>(s),
      [&](std::int32_t j) { return rank[j - sequence.first_row] < own ? j + to_state : j; });
}

}  // namespace

void begin_scores_cpu(CpuContext& context, const BeginScores& op) {
  context.for_rows(op.state_h.shape[0], [&](std::int64_t s, std::int64_t end) {
    for (; s < end; ++s) begin_state(op, s);
  });
}

}  // namespace biogpu::models::proteinmpnn
