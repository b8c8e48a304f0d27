#include "lib/ops/attention/cross_attention.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "lib/ops/reference/scores.hpp"

namespace biogpu::ops {
namespace {

// Row t and one head over the keys [begin, end).
void attend_across(const CrossAttention& op, std::int64_t t, std::int64_t head, std::int64_t begin,
                   std::int64_t end) {
  const std::int64_t h = op.q.shape[2], key_head = head / (op.q.shape[1] / op.k.shape[1]);
  const float* const query = reference::head_of(op.q, t, head);
  std::vector<double> p;
  for (std::int64_t j = begin; j < end; ++j) {
    double dot = 0;
    for (std::int64_t e = 0; e < h; ++e)
      dot += static_cast<double>(query[e]) * reference::head_of(op.k, j, key_head)[e];
    p.push_back(dot * static_cast<double>(op.scale));
  }
  const double log_sum = p.empty() ? 0 : reference::log_sum_exp(p);
  for (std::int64_t e = 0; e < h; ++e) {
    double y = 0;
    for (std::int64_t j = begin; j < end; ++j)
      y += std::exp(p[static_cast<std::size_t>(j - begin)] - log_sum) *
           reference::head_of(op.v, j, key_head)[e];
    op.out.row<float>(t)[head * h + e] = static_cast<float>(y);
  }
}

}  // namespace

void cross_attention_ref(const CrossAttention& op) {
  const auto* const starts = op.key_starts.as<std::int32_t>();
  for (std::int64_t s = 0; s < op.queries->n_segments; ++s) {
    const std::int64_t begin = starts[s];
    const std::int64_t n_keys = op.key_counts.empty()
                                    ? starts[s + 1] - begin
                                    : std::int64_t{op.key_counts.as<std::int32_t>()[s]};
    for (std::int64_t t = op.queries->begin(s); t < op.queries->end(s); ++t) {
      const std::int64_t unseen = op.causal ? op.queries->end(s) - 1 - t : 0;
      for (std::int64_t head = 0; head < op.q.shape[1]; ++head)
        attend_across(op, t, head, begin, begin + std::max<std::int64_t>(0, n_keys - unseen));
    }
  }
}

}  // namespace biogpu::ops
