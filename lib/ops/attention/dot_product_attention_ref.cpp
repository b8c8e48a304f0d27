#include <algorithm>
#include <cmath>
#include <vector>

#include "lib/ops/attention/dot_product_attention.hpp"

namespace biogpu::ops {
namespace {

struct Query {
  std::int64_t b, head, i, key_head;
};

const float* numbers_of(const Tensor& x, std::int64_t b, std::int64_t row, std::int64_t head) {
  return x.as<float>() + b * x.stride[0] + row * x.stride[1] + head * x.stride[2];
}

// What counts as minus infinity.
double dot_limited(double x) { return x < -1e29 ? -std::numeric_limits<double>::infinity() : x; }

double dot_bias_at(const DotProductAttention& op, const Query& at, std::int64_t j) {
  const std::int64_t index[] = {at.b % op.bias.shape[0], at.head, at.i / op.bias_block,
                                j / op.bias_block};
  const float* p = op.bias.as<float>();
  for (std::size_t axis = 0; axis < 4; ++axis)
    if (op.bias.shape[axis] > 1) p += index[axis] * op.bias.stride[axis];
  return dot_limited(*p);
}

bool is_masked(const Tensor& mask, std::int64_t b, std::int64_t j) {
  const std::int64_t at = (mask.shape[0] > 1 ? b * mask.stride[0] : 0) + j * mask.stride[1];
  return mask.dtype == DType::u8 ? mask.as<std::uint8_t>()[at] == 0 : mask.as<float>()[at] == 0;
}

double dot_logit(const DotProductAttention& op, const Query& at, std::int64_t j) {
  if (!op.key_mask.empty() && is_masked(op.key_mask, at.b, j)) return dot_limited(op.masked_value);
  const float* const q = numbers_of(op.q, at.b, at.i, at.head);
  const float* const k = numbers_of(op.k, at.b, j, at.key_head);
  double x = 0;
  for (std::int64_t e = 0; e < op.q.shape[3]; ++e) x += static_cast<double>(q[e]) * k[e];
  x *= op.scale;
  if (!op.bias.empty()) x += dot_bias_at(op, at, j);
  return op.soft_cap > 0 ? op.soft_cap * std::tanh(x / op.soft_cap) : x;
}

void attend_query(const DotProductAttention& op, const Query& at) {
  const std::int64_t n =
      op.key_lengths.empty()
          ? op.k.shape[1]
          : std::min<std::int64_t>(op.key_lengths.as<std::int32_t>()[at.b], op.k.shape[1]);
  std::vector<double> weights;
  for (std::int64_t j = 0; j < n; ++j) weights.push_back(dot_logit(op, at, j));
  double top = -std::numeric_limits<double>::infinity(), sum = 0;
  for (const double x : weights) top = std::max(top, x);
  const bool none = std::isinf(top);
  for (double& x : weights) sum += x = none ? 0 : std::exp(x - top);
  float* const out = const_cast<float*>(numbers_of(op.out, at.b, at.i, at.head));
  for (std::int64_t e = 0; e < op.v.shape[3]; ++e) {
    double y = 0;
    for (std::int64_t j = 0; j < n && !none; ++j)
      y += weights[static_cast<std::size_t>(j)] / sum *
           static_cast<double>(numbers_of(op.v, at.b, j, at.key_head)[e]);
    out[e] = static_cast<float>(y);
  }
  if (!op.log_sum_exp.empty())
    op.log_sum_exp.row<float>(at.b)[at.head * op.log_sum_exp.stride[1] + at.i] =
        static_cast<float>(none ? top : top + std::log(sum));
}

}  // namespace

void dot_product_attention_ref(const DotProductAttention& op) {
  const std::int64_t shared = op.q.shape[2] / op.k.shape[2];
  for (std::int64_t b = 0; b < op.q.shape[0]; ++b)
    for (std::int64_t head = 0; head < op.q.shape[2]; ++head)
      for (std::int64_t i = 0; i < op.q.shape[1]; ++i)
        attend_query(op, {b, head, i, head / shared});
}

}  // namespace biogpu::ops
