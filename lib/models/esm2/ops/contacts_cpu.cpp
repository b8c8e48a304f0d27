// Contact scores out of attention probabilities that are computed again.
#include "lib/core/simd_targets.hpp"
// The settings come first; foreach_target.h compiles this file once per target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/models/esm2/ops/contacts_cpu.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h by its rules.
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "lib/models/esm2/ops/contacts.hpp"
#include "lib/ops/attention/scores-inl.hpp"
#include "lib/ops/cpu/cpu_context.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::models::esm2 {
namespace HWY_NAMESPACE {

using namespace ops::HWY_NAMESPACE;  // NOLINT(google-build-using-namespace): vectors of this target

// out[j * n + row + i] = exp(score of key j and query row + i - log sum of the query)
template <int kVectors>
void contact_block(const Head& q, std::int64_t row, float scale, const float* log_sums,
                   const HeadScratch& scratch, float* out) {
  const F32 f32;
  const std::int64_t lanes = n_lanes(), pitch = kVectors * lanes;
  const std::int64_t n_rows = std::min(pitch, q.n - row);
  pack_queries(q, row, kUnits * scale, pitch, scratch.queries);
  score_block<kVectors>(scratch.keys, padded_head(q.size), q.n, q.size, scratch.queries,
                        scratch.scores);
  HWY_ALIGN float of_block[kMaxQueries] = {};
  for (std::int64_t i = 0; i < n_rows; ++i) of_block[i] = kUnits * log_sums[row + i];
  for (std::int64_t j = 0; j < q.n; ++j)
    for (std::int64_t i = 0; i < n_rows; i += lanes) {
      const Vec score = hn::Load(f32, scratch.scores + j * pitch + i);
      const Vec p = exp2_of(hn::Sub(score, hn::Load(f32, of_block + i)));
      store_first(p, static_cast<std::size_t>(n_rows - i), out + j * q.n + row + i);
    }
}

void contact_probabilities(const AccumulateContacts& op, std::int64_t s, std::int64_t head,
                           float* out, float* memory) {
  const std::int64_t first = op.segments->begin(s) + 1, n = op.segments->end(s) - 1 - first;
  const Head q = head_of(op.q, first, n, head);
  const HeadScratch scratch(memory, n, q.size, q.size);
  copy_head(head_of(op.k, first, n, head), scratch.keys);
  const float* const log_sums = op.log_sum_exp.row<float>(head) + first;
  for (std::int64_t row = 0; row < n; row += 2 * n_lanes()) {
    if (n - row > n_lanes()) {
      contact_block<2>(q, row, op.scale, log_sums, scratch, out);
    } else {
      contact_block<1>(q, row, op.scale, log_sums, scratch, out);
    }
  }
}

std::int64_t contact_scratch(std::int64_t length, std::int64_t head_size) {
  return HeadScratch::size(length, head_size, head_size);
}

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::models::esm2
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace biogpu::models::esm2 {

HWY_EXPORT(contact_scratch);
HWY_EXPORT(contact_probabilities);

namespace {

void add_contacts(CpuContext& context, const AccumulateContacts& op, std::int64_t s,
                  float* scores) {
  const std::int64_t n = n_residues(*op.segments, s), begin = op.segments->begin(s);
  const std::int64_t n_heads = op.q.shape[1];
  for (std::int64_t head = 0; head < n_heads; ++head) {
    float* const sums = op.row_sums.row<float>(op.first_channel + head) + begin;
    std::fill(sums, sums + op.segments->length(s), 0.0f);
  }
  if (n == 0) return;
  std::vector<float> a(static_cast<std::size_t>(n * n));
  for (std::int64_t head = 0; head < n_heads; ++head) {
    float* const sums = op.row_sums.row<float>(op.first_channel + head) + begin + 1;
    const float weight = op.weight.as<float>()[head];
    context.execute([&] {
      float* const scratch = context.scratch().reserve(
          HWY_DYNAMIC_DISPATCH(contact_scratch)(op.segments->length(s), op.q.shape[2]));
      HWY_DYNAMIC_DISPATCH(contact_probabilities)(op, s, head, a.data(), scratch);
    });
    context.for_rows(n, [&](std::int64_t i, std::int64_t end) {
      for (; i < end; ++i) {
        double sum = 0;
        for (std::int64_t j = 0; j < n; ++j) {
          const float both =
              a[static_cast<std::size_t>(i * n + j)] + a[static_cast<std::size_t>(j * n + i)];
          sum += static_cast<double>(both);
          scores[i * n + j] += weight * both;
        }
        sums[i] = static_cast<float>(sum);
      }
    });
  }
}

// w_c / sum_i r_ci of each channel.
std::vector<float> correction_factors(const FinishContacts& op, std::int64_t begin,
                                      std::int64_t n) {
  std::vector<float> factors;
  for (std::int64_t c = 0; c < op.row_sums.shape[0]; ++c) {
    const float* const sums = op.row_sums.row<float>(c) + begin;
    const double total = std::accumulate(sums, sums + n, 0.0);
    factors.push_back(total == 0 ? 0.0f : static_cast<float>(op.weight.as<float>()[c] / total));
  }
  return factors;
}

void finish_row(const FinishContacts& op, const std::vector<float>& factors, std::int64_t begin,
                std::int64_t n, std::int64_t i, float* row) {
  for (std::size_t c = 0; c < factors.size(); ++c) {
    const float* const sums = op.row_sums.row<float>(static_cast<std::int64_t>(c)) + begin;
    const float factor = factors[c] * sums[i];
    for (std::int64_t j = 0; j < n; ++j) row[j] -= factor * sums[j];
  }
  for (std::int64_t j = 0; j < n; ++j) row[j] = 1 / (1 + std::exp(-(row[j] + op.bias)));
}

}  // namespace

void accumulate_contacts_cpu(CpuContext& context, const AccumulateContacts& op) {
  for (std::int64_t s = 0; s < op.segments->n_segments; ++s)
    add_contacts(context, op, s, op.scores.as<float>() + op.first_score.as<std::int64_t>()[s]);
}

void finish_contacts_cpu(CpuContext& context, const FinishContacts& op) {
  for (std::int64_t s = 0; s < op.segments->n_segments; ++s) {
    const std::int64_t n = n_residues(*op.segments, s), begin = op.segments->begin(s) + 1;
    float* const scores = op.scores.as<float>() + op.first_score.as<std::int64_t>()[s];
    const std::vector<float> factors = correction_factors(op, begin, n);
    context.for_rows(n, [&](std::int64_t row, std::int64_t end) {
      for (; row < end; ++row) finish_row(op, factors, begin, n, row, scores + row * n);
    });
  }
}

}  // namespace biogpu::models::esm2
#endif
