#pragma once

#include <cstdint>

#include "gpu/ops/attention/attention.hpp"
#include "gpu/ops/elements.hpp"
#include "gpu/rt/stream.hpp"

namespace biogpu::gpu::esm2 {

using namespace ops;  // NOLINT(google-build-using-namespace): rows and numbers of gpu/ops

// One layer of ESM's contact head: see Contacts in lib/models/esm2/ops/contacts.hpp. A sequence's
// residues are its tokens without the first and the last.
struct ContactArgs {
  Rows q, k;  // [T, n_heads, head], as AttentionArgs
  std::int64_t head_stride = 0;
  int n_heads = 0;
  int head = 0;
  float scale = 1;
  const float* log_sum_exp = nullptr;  // [n_heads, log_sum_exp_stride]
  std::int64_t log_sum_exp_stride = 0;
  const float* weight = nullptr;              // [n_heads]
  float* scores = nullptr;                    // [n, n] of each sequence, one after the other
  float* row_sums = nullptr;                  // [n_heads, row_sums_stride]
  std::int64_t row_sums_stride = 0;           // of this layer's first channel on
  const std::int32_t* starts = nullptr;       // [n_sequences + 1]
  const std::int64_t* first_score = nullptr;  // [n_sequences]: of each sequence in scores
  std::int64_t n_sequences = 0;
  std::int64_t max_length = 0;  // in tokens
};
void launch_accumulate_contacts(const ContactArgs& args, Stream& stream);

// Average product correction, sigmoid: see FinishContacts in lib/models/esm2/ops/contacts.hpp.
struct FinishContactArgs {
  float* scores = nullptr;
  const float* row_sums = nullptr;  // [n_channels, row_sums_stride]
  std::int64_t row_sums_stride = 0;
  const float* weight = nullptr;  // [n_channels]
  int n_channels = 0;
  float bias = 0;
  float* share = nullptr;  // [n_sequences, n_channels]: room for weight / total
  const std::int32_t* starts = nullptr;
  const std::int64_t* first_score = nullptr;
  std::int64_t n_sequences = 0;
  std::int64_t max_length = 0;
};
void launch_finish_contacts(const FinishContactArgs& args, Stream& stream);

}  // namespace biogpu::gpu::esm2
