#pragma once

#include "lib/ops/declare.hpp"

namespace biogpu::models::esm2 {

using ops::Context;
using ops::CpuContext;
using ops::Ragged;
using ops::Tensor;

// The contact head, one layer at a time. A_c are the softmax probabilities of channel c = (layer,
// head) between the residues of a sequence: its tokens without the first and the last.
//   scores  += sum_head weight[head] (A_c + A_c^T)
//   row_sums[first_channel + head][t] = sum_j (A_c + A_c^T)_tj, 0 at the first and last token
// (Rao et al. 2020, Transformer protein language models are unsupervised structure learners)
struct AccumulateContacts {
  Tensor q;            // operand [T, H, h], as attention had them
  Tensor k;            //
  float scale = 1;     //
  Tensor log_sum_exp;  // f32 [H, T], from attention
  Tensor weight;       // f32 [H], of this layer
  std::int64_t first_channel = 0;
  const Ragged* segments = nullptr;
  Tensor first_score;  // i64 [n_segments]: where the scores of a sequence begin
  Tensor scores;    // f32 [sum over sequences of n^2], n residues; sequence after sequence, [n, n]
  Tensor row_sums;  // f32 [C, T]
};
BIOGPU_DECLARE_OP(accumulate_contacts, AccumulateContacts);

// scores -> probabilities, with the average product correction of every channel c of weight w_c:
// p_ij = sigmoid(scores_ij - sum_c w_c r_ci r_cj / sum_i r_ci + bias). In place.
// (Dunn, Wahl and Gloor 2008, doi 10.1093/bioinformatics/btm604)
struct FinishContacts {
  Tensor scores;    // as above
  Tensor row_sums;  // f32 [C, T]
  Tensor weight;    // f32 [C]
  float bias = 0;
  const Ragged* segments = nullptr;
  Tensor first_score;  // i64 [n_segments]
};
BIOGPU_DECLARE_OP(finish_contacts, FinishContacts);

// Residues of a sequence: its tokens without the first and the last.
inline std::int64_t n_residues(const Ragged& segments, std::int64_t s) {
  return segments.length(s) < 2 ? 0 : segments.length(s) - 2;
}

}  // namespace biogpu::models::esm2
