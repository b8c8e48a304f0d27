#include <algorithm>
#include <cmath>
#include <vector>

#include "lib/ops/attention/attention.hpp"
#include "lib/ops/reference/scores.hpp"

namespace biogpu::ops {
namespace {

double bias_at(const Tensor& bias, std::int64_t s, std::int64_t head, std::int64_t i,
               std::int64_t j) {
  const std::int64_t index[] = {s, head, i, j};
  const float* p = bias.as<float>();
  for (std::size_t axis = 0; axis < 4; ++axis)
    if (bias.shape[axis] > 1) p += index[axis] * bias.stride[axis];
  return *p;
}

// Row i of segment s and one head.
void attend(const Attention& op, std::int64_t s, std::int64_t head, std::int64_t i) {
  const std::int64_t h = op.v.shape[2], begin = op.segments->begin(s);
  const std::int64_t value_head = head / (op.q.shape[1] / op.v.shape[1]);
  std::vector<double> p = reference::scores(op, s, head, i);
  if (!op.bias.empty())
    for (std::size_t j = 0; j < p.size(); ++j)
      p[j] += bias_at(op.bias, s, head, i - begin, static_cast<std::int64_t>(j));
  if (op.soft_cap > 0)
    for (double& x : p) x = op.soft_cap * std::tanh(x / static_cast<double>(op.soft_cap));
  if (!op.log_sum_exp.empty())
    op.log_sum_exp.row<float>(head)[i] = static_cast<float>(reference::log_sum_exp(p));
  // With a bias as low as a mask's for every key, a logarithm of the sum would be lost.
  const double top = *std::max_element(p.begin(), p.end());
  double sum = 0;
  for (double& x : p) sum += x = std::exp(x - top);
  for (std::int64_t e = 0; e < h; ++e) {
    double y = 0;
    for (std::size_t j = 0; j < p.size(); ++j)
      y += p[j] / sum *
           reference::head_of(op.v, begin + static_cast<std::int64_t>(j), value_head)[e];
    op.out.row<float>(i)[head * h + e] = static_cast<float>(y);
  }
}

}  // namespace

void attention_ref(const Attention& op) {
  for (std::int64_t s = 0; s < op.segments->n_segments; ++s)
    for (std::int64_t head = 0; head < op.q.shape[1]; ++head)
      for (std::int64_t i = op.segments->begin(s); i < op.segments->end(s); ++i)
        attend(op, s, head, i);
}

}  // namespace biogpu::ops
