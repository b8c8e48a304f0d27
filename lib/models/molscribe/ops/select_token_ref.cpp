#include <algorithm>
#include <cmath>
#include <limits>

#include "lib/models/molscribe/ops/select_token.hpp"

namespace biogpu::models::molscribe {
namespace {

void select_row(const SelectToken& op, std::int64_t b) {
  std::int32_t& length = op.lengths.as<std::int32_t>()[b];
  std::int32_t& token = op.tokens.as<std::int32_t>()[b];
  const auto capacity = static_cast<std::int32_t>(op.history.shape[1]);
  if (length >= capacity || (length > 0 && token == op.rule.stop)) return;
  const float* const logits = op.logits.row<float>(b);
  const auto n = static_cast<std::int32_t>(op.logits.shape[1]);
  const float largest = *std::max_element(logits, logits + n);
  double sum = 0;
  for (std::int32_t c = 0; c < n; ++c) sum += std::exp(static_cast<double>(logits[c]) - largest);
  const auto allowed = [&](std::int32_t c) {
    if (length == 0) return c != op.rule.stop;
    if (op.rule.is_x(token)) return op.rule.is_y(c);
    return !op.rule.is_y(token) || c < op.rule.n_symbols;
  };
  std::int32_t best = 0;
  float first = -std::numeric_limits<float>::infinity(), second = first;
  for (std::int32_t c = 0; c < n; ++c) {
    if (!allowed(c)) continue;
    if (logits[c] > first) {
      second = first;
      first = logits[c];
      best = c;
    } else {
      second = std::max(second, logits[c]);
    }
  }
  op.history.row<std::int32_t>(b)[length] = best;
  op.log_probabilities.row<float>(b)[length] =
      static_cast<float>(static_cast<double>(first) - largest - std::log(sum));
  op.margins.row<float>(b)[length] = first - second;
  std::copy_n(op.hidden.row<float>(b), op.hidden.shape[1],
              op.states.row<float>(b * capacity + length));
  token = best;
  ++length;
  op.n_keys.as<std::int32_t>()[b] = std::min(length + 1, capacity);
}

}  // namespace

void select_token_ref(const SelectToken& op) {
  for (std::int64_t b = 0; b < op.logits.shape[0]; ++b) select_row(op, b);
}

}  // namespace biogpu::models::molscribe
