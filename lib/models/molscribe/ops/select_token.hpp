#pragma once

#include <cstdint>

#include "lib/ops/declare.hpp"

namespace biogpu::models::molscribe {

using ops::Context;
using ops::CpuContext;
using ops::Tensor;

// Which tokens may follow: behind a bin of x a bin of y alone, behind a bin of y a symbol, at the
// beginning anything but the stop token.
struct TokenRule {
  std::int32_t n_symbols = 0, n_bins = 0, stop = 0;

  bool is_x(std::int32_t id) const { return id >= n_symbols && id < n_symbols + n_bins; }
  bool is_y(std::int32_t id) const { return id >= n_symbols + n_bins; }
};

// One step of greedy decoding of B rows, without the host. Row b has lengths[b] tokens, of which
// tokens[b] is the last. A row that is not at its end (the stop token, or as many tokens as there
// is room for) gets one token more: that of the greatest logit among the allowed ones, the first of
// equal ones. Written of it: the token, its log-probability among all tokens, by how much its logit
// is above that of the second allowed one (+infinity where there is none), and the row's hidden
// state. (Qian et al. 2023, MolScribe, doi 10.1021/acs.jcim.2c01480)
struct SelectToken {
  Tensor logits;  // f32 [B, V]
  Tensor hidden;  // f32 [B, d]
  TokenRule rule;
  Tensor tokens;   // i32 [B], in place
  Tensor lengths;  // i32 [B], in place
  Tensor n_keys;   // i32 [B]: rows of a cache in the next step, min(lengths + 1, capacity)
  Tensor history;  // i32 [B, capacity]
  Tensor log_probabilities, margins;  // f32 [B, capacity]
  Tensor states;                      // f32 [B * capacity, d]
};
BIOGPU_DECLARE_OP(select_token, SelectToken);

}  // namespace biogpu::models::molscribe
