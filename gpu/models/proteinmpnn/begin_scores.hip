// What scoring given letters starts from.
//
// Shapes   see BeginScores, lib/models/proteinmpnn/ops/begin_scores.hpp; d 128, K up to 48.
// Mapping  a block a state, a thread a channel or a neighbour.
// Traffic  2.5 KiB a state; bound by the launch.
// Result   exact but for one rounded sum a number.
// Source   own.
// Oracle   begin_scores_ref, lib/models/proteinmpnn/ops/begin_scores_ref.cpp.
#include "gpu/ops/device.hpp"
#include "gpu/rt/kernel.hpp"
#include "lib/models/proteinmpnn/ops/begin_scores.hpp"

namespace biogpu::gpu::proteinmpnn {
namespace {

using models::proteinmpnn::kHidden;
using models::proteinmpnn::kNodeProj;
using models::proteinmpnn::Sequence;

struct BeginArgs {
  const std::int32_t* rows;
  int n_slots;  // K
  const float* h;
  float* node_proj;
  std::int64_t n_rows;
  const float* table;
  const Sequence* sequences;
  const std::int32_t* sequence_of;
  const std::int32_t* state_rows;
  std::int64_t first_state;
  const std::int32_t* rank;
  const std::int32_t* letters;
  const std::int32_t* letter_states;
  std::int32_t* senders;
  std::int32_t* ids;
  float* state_h;
};

__global__ void begin_scores_kernel(BeginArgs a) {
  const std::int64_t state = blockIdx.x;
  const Sequence sequence = a.sequences[a.sequence_of[state]];
  const std::int64_t row = a.state_rows[state];
  const int thread = static_cast<int>(threadIdx.x);
  const std::int32_t drawn = a.letters[a.letter_states[state]];
  const std::int32_t letter = drawn == models::proteinmpnn::kNoLetter ? 0 : drawn;
  const float* const from = a.node_proj + row * kNodeProj;
  float* const to = a.node_proj + (a.n_rows + a.first_state + state) * kNodeProj;
  to[thread] = from[thread];
  to[kHidden + thread] = from[kHidden + thread] + a.table[letter * 2 * kHidden + kHidden + thread];
  a.state_h[state * kHidden + thread] = a.h[row * kHidden + thread];
  if (thread == 0) a.ids[state] = letter;
  const std::int32_t* const rank = a.rank + sequence.first_state;
  const std::int32_t own = rank[row - sequence.first_row];
  for (int e = thread; e < a.n_slots; e += kHidden) {
    const std::int32_t j = a.rows[row * a.n_slots + e], residue = j - sequence.first_row;
    a.senders[state * a.n_slots + e] =
        rank[residue] < own ? static_cast<std::int32_t>(a.n_rows) + sequence.first_state + residue
                            : j;
  }
}

}  // namespace

void begin_scores(ops::Device& device, const models::proteinmpnn::BeginScores& op) {
  const std::int64_t n = op.state_h.shape[0];
  if (n == 0) return;
  const BeginArgs args{op.rows.as<std::int32_t>(),
                       static_cast<int>(op.rows.shape[1]),
                       op.h.as<float>(),
                       op.node_proj.as<float>(),
                       op.rows.shape[0],
                       op.table.as<float>(),
                       op.sequences,
                       op.sequence_of.as<std::int32_t>(),
                       op.state_rows.as<std::int32_t>(),
                       op.first_state,
                       op.rank.as<std::int32_t>(),
                       op.letters.as<std::int32_t>(),
                       op.letter_states.as<std::int32_t>(),
                       op.senders.as<std::int32_t>(),
                       op.ids.as<std::int32_t>(),
                       op.state_h.as<float>()};
  device.stream().launch(begin_scores_kernel, static_cast<std::size_t>(n), kHidden, args);
}

}  // namespace biogpu::gpu::proteinmpnn
