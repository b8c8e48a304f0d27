#include "lib/ops/attention/relative_attention.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "lib/ops/reference/scores.hpp"

namespace biogpu::ops {
namespace {

double biased_product(const float* query, const float* bias, const float* row, std::int64_t n) {
  double sum = 0;
  for (std::int64_t e = 0; e < n; ++e)
    sum += (static_cast<double>(query[e]) + bias[e]) * static_cast<double>(row[e]);
  return sum;
}

// Row i of segment s and one head.
void attend_with_distances(const RelativeAttention& op, std::int64_t s, std::int64_t head,
                           std::int64_t i) {
  const std::int64_t d_k = op.q.shape[2], d_v = op.v.shape[2], begin = op.segments->begin(s);
  const std::int64_t most = (op.relative.shape[1] + 1) / 2;
  const float* const query = reference::head_of(op.q, i, head);
  std::vector<double> p;
  for (std::int64_t j = begin; j < op.segments->end(s); ++j) {
    const float* const relative =
        op.relative.row<float>(head) + (j - i + most - 1) * op.relative.stride[1];
    p.push_back(biased_product(query, op.content_bias.row<float>(head),
                               reference::head_of(op.k, j, head), d_k) +
                biased_product(query, op.position_bias.row<float>(head), relative, d_k));
  }
  const double top = *std::max_element(p.begin(), p.end());
  double sum = 0;
  for (double& x : p) sum += x = std::exp(x - top);
  for (std::int64_t e = 0; e < d_v; ++e) {
    double y = 0;
    for (std::size_t j = 0; j < p.size(); ++j)
      y += p[j] / sum * reference::head_of(op.v, begin + static_cast<std::int64_t>(j), head)[e];
    op.out.row<float>(i)[head * d_v + e] = static_cast<float>(y);
  }
}

}  // namespace

void relative_attention_ref(const RelativeAttention& op) {
  for (std::int64_t s = 0; s < op.segments->n_segments; ++s)
    for (std::int64_t head = 0; head < op.q.shape[1]; ++head)
      for (std::int64_t i = op.segments->begin(s); i < op.segments->end(s); ++i)
        attend_with_distances(op, s, head, i);
}

}  // namespace biogpu::ops
