#pragma once

#include "lib/models/proteinmpnn/ops/decode.hpp"

namespace biogpu::models::proteinmpnn {

// What scoring given letters starts from, for n states: layer 0 of `node_proj` and h of each state,
// and which rows of `node_proj` its neighbours' parts are: those of states that come before it, or
// of rows.
struct BeginScores {
  Tensor rows;       // i32 [R, K]
  Tensor h;          // f32 [R, d]
  Tensor node_proj;  // f32 [R + S, kNodeProj]
  Tensor table;      // DecoderLayer::letters of layer 0
  const Sequence* sequences = nullptr;
  Tensor sequence_of, state_rows;  // i32 [n]: the sequence and the row of each state
  std::int64_t first_state = 0;    // of the n
  Tensor rank, letters;            // i32 [S]
  Tensor letter_states;  // i32 [n]: the state whose letter is taken; none counts as the first
  Tensor senders;        // i32 [n, K]
  Tensor ids;            // i32 [n]: letters
  Tensor state_h;        // f32 [n, d]
};
BIOGPU_DECLARE_OP(begin_scores, BeginScores);

}  // namespace biogpu::models::proteinmpnn
