#include <algorithm>
#include <cmath>

#include "lib/ops/reduction/attention_pool.hpp"
#include "lib/ops/reference/outputs.hpp"

namespace biogpu::ops {

// As the softmax of two products, not of their difference.
void attention_pool_ref(const AttentionPool& op) {
  const std::int64_t d = op.x.shape[1];
  const auto logit = [&](std::int64_t row, std::int64_t channel) {
    double sum = 0;
    for (std::int64_t c = 0; c < d; ++c)
      sum +=
          static_cast<double>(op.x.row<float>(row)[c]) * op.linear->weight.row<float>(channel)[c];
    return sum;
  };
  for (std::int64_t s = 0; s < op.out_segments->n_segments; ++s)
    for (std::int64_t q = 0; q < op.out_segments->length(s); ++q) {
      const std::int64_t first = op.segments->begin(s) + 2 * q;
      const bool pair = first + 1 < op.segments->end(s);
      for (std::int64_t i = 0; i < d; ++i) {
        double y = op.x.row<float>(first)[i];
        if (pair) {
          const double l0 = logit(first, i), l1 = logit(first + 1, i), top = std::max(l0, l1);
          const double e0 = std::exp(l0 - top), e1 = std::exp(l1 - top);
          y = (e0 * y + e1 * op.x.row<float>(first + 1)[i]) / (e0 + e1);
        }
        reference::store(op.out, op.activated, op.out_segments->begin(s) + q, i, y);
      }
    }
}

}  // namespace biogpu::ops
