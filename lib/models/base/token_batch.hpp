#pragma once

#include <cstdint>
#include <vector>

#include "lib/tensor/ragged.hpp"
#include "lib/tensor/tensor.hpp"

namespace biogpu::models {

// Token sequences of a pass, one after the other. Sequence s has tokens [starts[s], starts[s + 1]).
struct TokenBatch {
  std::vector<std::int32_t> ids;         // [T]
  std::vector<std::int32_t> starts;      // [n_sequences + 1], from 0 to T, rising
  std::vector<std::int32_t> logit_rows;  // tokens that logits are for; empty: every residue
};

// The same in a context's memory.
struct DeviceTokens {
  tensor::Ragged segments;
  tensor::Tensor ids;           // i32 [T]
  tensor::Tensor scale;         // f32 [T], what the embedding of a token is multiplied by; or empty
  tensor::Tensor residue_rows;  // i32 [R], the tokens that are residues
  tensor::Tensor begin_rows;    // i32 [n_sequences], their first tokens
  tensor::Tensor logit_rows;    // i32 [rows], or empty
  tensor::Tensor first_score;   // i64 [n_sequences]: see esm2::AccumulateContacts; or empty
};

}  // namespace biogpu::models
