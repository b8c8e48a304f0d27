#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "lib/ops/declare.hpp"

namespace biogpu::ops::reference {

// [T, H, h]: the h numbers of a row and a head.
inline const float* head_of(const Tensor& x, std::int64_t row, std::int64_t head) {
  return x.row<float>(row) + head * x.stride[1];
}

inline double log_sum_exp(const std::vector<double>& x) {
  const double top = *std::max_element(x.begin(), x.end());
  double sum = 0;
  for (const double v : x) sum += std::exp(v - top);
  return top + std::log(sum);
}

// Scaled scores of row i for every row of its segment s. Op: q, k, scale, segments.
template <class Op>
std::vector<double> scores(const Op& op, std::int64_t s, std::int64_t head, std::int64_t i) {
  const std::int64_t key_head = head / (op.q.shape[1] / op.k.shape[1]);
  std::vector<double> p;
  for (std::int64_t j = op.segments->begin(s); j < op.segments->end(s); ++j) {
    double dot = 0;
    for (std::int64_t e = 0; e < op.q.shape[2]; ++e)
      dot += static_cast<double>(head_of(op.q, i, head)[e]) * head_of(op.k, j, key_head)[e];
    p.push_back(dot * static_cast<double>(op.scale));
  }
  return p;
}

}  // namespace biogpu::ops::reference
