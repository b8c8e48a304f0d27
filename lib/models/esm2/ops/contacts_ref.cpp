#include <algorithm>
#include <cmath>
#include <vector>

#include "lib/models/esm2/ops/contacts.hpp"
#include "lib/ops/reference/scores.hpp"

namespace biogpu::models::esm2 {

void accumulate_contacts_ref(const AccumulateContacts& op) {
  for (std::int64_t s = 0; s < op.segments->n_segments; ++s) {
    const std::int64_t n = n_residues(*op.segments, s), begin = op.segments->begin(s);
    const std::int64_t first = op.first_score.as<std::int64_t>()[s];
    const auto size = static_cast<std::size_t>(n);
    for (std::int64_t head = 0; head < op.q.shape[1]; ++head) {
      std::vector<double> a(size * size);
      for (std::size_t i = 0; i < size; ++i) {
        const std::int64_t t = begin + 1 + static_cast<std::int64_t>(i);
        const auto row = ops::reference::scores(op, s, head, t);
        for (std::size_t j = 0; j < size; ++j)
          a[i * size + j] = std::exp(row[j + 1] - op.log_sum_exp.row<float>(head)[t]);
      }
      float* const sums = op.row_sums.row<float>(op.first_channel + head) + begin;
      std::fill(sums, sums + op.segments->length(s), 0.0f);
      for (std::size_t i = 0; i < size; ++i) {
        double sum = 0;
        for (std::size_t j = 0; j < size; ++j) {
          const double both = a[i * size + j] + a[j * size + i];
          sum += both;
          op.scores.as<float>()[first + static_cast<std::int64_t>(i * size + j)] +=
              static_cast<float>(both * op.weight.as<float>()[head]);
        }
        sums[i + 1] = static_cast<float>(sum);
      }
    }
  }
}

void finish_contacts_ref(const FinishContacts& op) {
  for (std::int64_t s = 0; s < op.segments->n_segments; ++s) {
    const std::int64_t n = n_residues(*op.segments, s), begin = op.segments->begin(s);
    const std::int64_t first = op.first_score.as<std::int64_t>()[s];
    std::vector<double> correction(static_cast<std::size_t>(n * n));
    for (std::int64_t c = 0; c < op.row_sums.shape[0]; ++c) {
      const float* const sums = op.row_sums.row<float>(c) + begin + 1;
      double total = 0;
      for (std::int64_t i = 0; i < n; ++i) total += sums[i];
      if (total == 0) continue;
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < n; ++j)
          correction[static_cast<std::size_t>(i * n + j)] +=
              static_cast<double>(op.weight.as<float>()[c]) * sums[i] * sums[j] / total;
    }
    for (std::int64_t i = 0; i < n * n; ++i) {
      float& p = op.scores.as<float>()[first + i];
      const double x = p - correction[static_cast<std::size_t>(i)] + static_cast<double>(op.bias);
      p = static_cast<float>(1 / (1 + std::exp(-x)));
    }
  }
}

}  // namespace biogpu::models::esm2
