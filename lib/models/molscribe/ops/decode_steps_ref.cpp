#include "lib/models/molscribe/ops/decode_steps.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace biogpu::models::molscribe {
namespace {

using Row = std::vector<double>;

Row norm(const Row& x, const float* weight, const float* bias, double eps) {
  const auto n = static_cast<double>(x.size());
  double mean = 0, variance = 0;
  for (const double value : x) mean += value / n;
  for (const double value : x) variance += (value - mean) * (value - mean) / n;
  Row y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    y[i] = (x[i] - mean) / std::sqrt(variance + eps) * weight[i] + bias[i];
  return y;
}

Row map(const Row& x, const float* weight, const float* bias, std::int64_t n_out) {
  Row y(static_cast<std::size_t>(n_out));
  for (std::size_t o = 0; o < y.size(); ++o) {
    double sum = bias[o];
    for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * weight[o * x.size() + i];
    y[o] = sum;
  }
  return y;
}

void add(Row& x, const Row& y) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += y[i];
}

// Keys and values of one row: key j begins at keys + j * stride.
struct Seen {
  const float *keys, *values;
  std::int64_t stride, n;
};

Row attend(const Row& q, const Seen& seen, std::int64_t n_heads) {
  const std::int64_t d = std::ssize(q), head = d / n_heads;
  Row mixed(q.size(), 0.0), weight(static_cast<std::size_t>(seen.n));
  for (std::int64_t first = 0; first < d; first += head) {
    double top = -INFINITY, sum = 0;
    for (std::int64_t j = 0; j < seen.n; ++j) {
      double score = 0;
      for (std::int64_t i = first; i < first + head; ++i)
        score += q[static_cast<std::size_t>(i)] * seen.keys[j * seen.stride + i];
      weight[static_cast<std::size_t>(j)] = score / std::sqrt(static_cast<double>(head));
      top = std::max(top, weight[static_cast<std::size_t>(j)]);
    }
    for (double& w : weight) sum += w = std::exp(w - top);
    for (std::int64_t j = 0; j < seen.n; ++j)
      for (std::int64_t i = first; i < first + head; ++i)
        mixed[static_cast<std::size_t>(i)] +=
            weight[static_cast<std::size_t>(j)] / sum * seen.values[j * seen.stride + i];
  }
  return mixed;
}

void run_layer(const DecodeSteps& op, std::int64_t layer, std::int64_t b, Row& x) {
  const std::int64_t d = std::ssize(x), capacity = op.state.history.shape[1];
  const DecoderLayout at = decoder_layout(d);
  const float* const w = op.layers.row<float>(layer);
  const auto linear = [&](const Row& from, std::int64_t place, std::int64_t n_out) {
    return map(from, w + place, w + place + n_out * std::ssize(from), n_out);
  };
  const auto normed = [&](std::int64_t place) { return norm(x, w + place, w + place + d, op.eps); };

  const Row qkv = linear(normed(at.self_norm), at.qkv, 3 * d);
  const std::int64_t length = op.state.lengths.as<std::int32_t>()[b];
  float* const own = op.own.row<float>(layer) + b * capacity * 2 * d;
  for (std::int64_t i = 0; i < 2 * d; ++i)
    own[length * 2 * d + i] = static_cast<float>(qkv[static_cast<std::size_t>(d + i)]);
  const Row q(qkv.begin(), qkv.begin() + d);
  add(x, linear(attend(q, {own, own + d, 2 * d, length + 1}, op.n_heads), at.self_out, d));

  const std::int64_t n_memory = op.memory.shape[0] / op.state.tokens.shape[0];
  const float* const memory = op.memory.row<float>(b * n_memory) + layer * 2 * d;
  const Seen seen{memory, memory + d, op.memory.stride[0], n_memory};
  add(x, linear(attend(linear(normed(at.cross_norm), at.q, d), seen, op.n_heads), at.cross_out, d));

  Row up = linear(normed(at.ffn_norm), at.up, 4 * d);
  for (double& value : up) value = value / 2 * (1 + std::erf(value / std::sqrt(2.0)));
  add(x, linear(up, at.down, d));
}

void decode_row(const DecodeSteps& op, std::int64_t b) {
  const std::int64_t d = op.table.shape[1], n_tokens = op.table.shape[0];
  const std::int32_t token = op.state.tokens.as<std::int32_t>()[b];
  const std::int32_t length = op.state.lengths.as<std::int32_t>()[b];
  if (length >= op.state.history.shape[1] || (length > 0 && token == op.state.rule.stop)) return;
  const float* const begin = op.table.row<float>(token);
  Row x(begin, begin + d);
  for (std::int64_t layer = 0; layer < op.layers.shape[0]; ++layer) run_layer(op, layer, b, x);
  const Row hidden =
      norm(x, op.last_norm.weight.as<float>(), op.last_norm.bias.as<float>(), op.eps);
  const Row sums = map(hidden, op.head.as<float>(), op.head_bias.as<float>(), n_tokens);
  std::vector<float> states(hidden.begin(), hidden.end()), logits(sums.begin(), sums.end());

  SelectToken one = op.state;
  const auto only = [&](Tensor& x_of_rows, std::int64_t n) {
    x_of_rows = x_of_rows.slice(0, b * n, (b + 1) * n);
  };
  for (Tensor* tensor :
       {&one.tokens, &one.lengths, &one.n_keys, &one.history, &one.log_probabilities, &one.margins})
    only(*tensor, 1);
  only(one.states, op.state.history.shape[1]);
  one.hidden = Tensor(states.data(), ops::DType::f32, {1, d});
  one.logits = Tensor(logits.data(), ops::DType::f32, {1, n_tokens});
  select_token_ref(one);
}

}  // namespace

void decode_steps_ref(const DecodeSteps& op) {
  for (std::int64_t b = 0; b < op.state.tokens.shape[0]; ++b)
    for (std::int64_t step = 0; step < op.n_steps; ++step) decode_row(op, b);
}

}  // namespace biogpu::models::molscribe
