#pragma once

#include <cstdint>
#include <vector>

#include "lib/tensor/ragged.hpp"
#include "lib/tensor/tensor.hpp"

namespace biogpu::models {

// Token sequences of a pass, one after the other. Sequence s has tokens [starts[s], starts[s + 1]).
struct TokenBatch {
  std::vector<std::int32_t> ids;     // [T]
  std::vector<std::int32_t> starts;  // [n_sequences + 1], from 0 to T, rising
  std::vector<float> scale;  // [T], or empty: what the embedding of a token is multiplied by
};

// The same in a context's memory.
struct DeviceTokens {
  tensor::Ragged segments;
  tensor::Tensor ids;          // i32 [T]
  tensor::Tensor scale;        // f32 [T], or empty
  tensor::Tensor first_score;  // i64 [n_sequences]: see esm2::AccumulateContacts; or empty
};

}  // namespace biogpu::models
