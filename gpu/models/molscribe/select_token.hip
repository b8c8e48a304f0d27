// One step of greedy decoding: the greatest logit of each row among the allowed tokens.
//
// Shapes   see lib/models/molscribe/ops/select_token.hpp.
// Mapping  a block of 128 threads a row; thread i takes columns i, i + 128, ..., and the threads'
//          results meet in shared memory, in pairs.
// Traffic  4 V + 8 d bytes a row; launch time.
// Result   exact tokens and margins; logarithms to 1e-6, added in an order that does not depend on
//          the wave.
// Source   own.
// Oracle   select_token_ref, lib/models/molscribe/ops/select_token_ref.cpp.
#include "lib/models/molscribe/ops/select_token.hpp"

#include <cmath>

#include "gpu/ops/device.hpp"
#include "gpu/rt/kernel.hpp"

namespace biogpu::gpu::molscribe {
namespace {

constexpr int kBlock = 128;

struct SelectArgs {
  const float* logits;
  std::int64_t logits_stride;
  int n_columns;
  const float* hidden;
  std::int64_t hidden_stride;
  int width;
  int n_symbols, n_bins, stop;
  std::int32_t* tokens;
  std::int32_t* lengths;
  std::int32_t* n_keys;
  int capacity;
  std::int32_t* history;
  float* log_probabilities;
  float* margins;
  float* states;
};

__device__ __forceinline__ bool is_allowed(const SelectArgs& a, int length, int token, int column) {
  if (length == 0) return column != a.stop;
  const bool is_y = token >= a.n_symbols + a.n_bins;
  if (token >= a.n_symbols && !is_y) return column >= a.n_symbols + a.n_bins;
  return !is_y || column < a.n_symbols;
}

__global__ __launch_bounds__(kBlock) void select_token_kernel(SelectArgs a) {
  __shared__ float largest[kBlock], first[kBlock], second[kBlock], sums[kBlock];
  __shared__ int columns[kBlock];
  const int row = static_cast<int>(blockIdx.x), thread = static_cast<int>(threadIdx.x);
  const int length = a.lengths[row], token = a.tokens[row];
  // The same for the whole block.
  if (length >= a.capacity || (length > 0 && token == a.stop)) return;
  const float* const logits = a.logits + row * a.logits_stride;
  float most = -INFINITY, best = -INFINITY, next = -INFINITY;
  int column = -1;
  for (int c = thread; c < a.n_columns; c += kBlock) {
    const float x = logits[c];
    most = fmaxf(most, x);
    if (!is_allowed(a, length, token, c)) continue;
    if (column < 0 || x > best) {
      next = best;
      best = x;
      column = c;
    } else {
      next = fmaxf(next, x);
    }
  }
  largest[thread] = most;
  first[thread] = best;
  second[thread] = next;
  columns[thread] = column;
  __syncthreads();
  for (int half = kBlock / 2; half > 0; half /= 2) {
    if (thread < half) {
      const int other = thread + half;
      largest[thread] = fmaxf(largest[thread], largest[other]);
      const bool wins = columns[other] >= 0 &&
                        (columns[thread] < 0 || first[other] > first[thread] ||
                         (first[other] == first[thread] && columns[other] < columns[thread]));
      const float loser = wins ? first[thread] : first[other];
      second[thread] = fmaxf(fmaxf(second[thread], second[other]), loser);
      if (wins) {
        first[thread] = first[other];
        columns[thread] = columns[other];
      }
    }
    __syncthreads();
  }
  float sum = 0;
  for (int c = thread; c < a.n_columns; c += kBlock) sum += expf(logits[c] - largest[0]);
  sums[thread] = sum;
  __syncthreads();
  for (int half = kBlock / 2; half > 0; half /= 2) {
    if (thread < half) sums[thread] += sums[thread + half];
    __syncthreads();
  }
  const std::int64_t at = static_cast<std::int64_t>(row) * a.capacity + length;
  for (int i = thread; i < a.width; i += kBlock)
    a.states[at * a.width + i] = a.hidden[row * a.hidden_stride + i];
  if (thread != 0) return;
  a.history[at] = columns[0];
  a.log_probabilities[at] = first[0] - largest[0] - logf(sums[0]);
  a.margins[at] = first[0] - second[0];
  a.tokens[row] = columns[0];
  a.lengths[row] = length + 1;
  a.n_keys[row] = length + 2 < a.capacity ? length + 2 : a.capacity;
}

}  // namespace

void select_token(ops::Device& device, const models::molscribe::SelectToken& op) {
  const auto n_rows = static_cast<std::size_t>(op.logits.shape[0]);
  if (n_rows == 0) return;
  const SelectArgs args{op.logits.as<float>(),
                        op.logits.stride[0],
                        static_cast<int>(op.logits.shape[1]),
                        op.hidden.as<float>(),
                        op.hidden.stride[0],
                        static_cast<int>(op.hidden.shape[1]),
                        op.rule.n_symbols,
                        op.rule.n_bins,
                        op.rule.stop,
                        op.tokens.as<std::int32_t>(),
                        op.lengths.as<std::int32_t>(),
                        op.n_keys.as<std::int32_t>(),
                        static_cast<int>(op.history.shape[1]),
                        op.history.as<std::int32_t>(),
                        op.log_probabilities.as<float>(),
                        op.margins.as<float>(),
                        op.states.as<float>()};
  device.stream().launch(select_token_kernel, n_rows, kBlock, args);
}

}  // namespace biogpu::gpu::molscribe
