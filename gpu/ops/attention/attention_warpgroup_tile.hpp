#pragma once

// What attention_warpgroup.hip's kernel is made of: two warpgroups with 64 queries each of one head
// of one sequence. For Hopper alone.

#include <cmath>

#include "gpu/ops/attention/attention_warpgroup_copies.hpp"
#include "gpu/prim/fast_math.hpp"
#include "gpu/prim/number16.hpp"
#include "gpu/prim/warpgroup_product.hpp"

namespace biogpu::gpu::ops {

// What one lane knows of its two rows of queries, row and row + 8: sums of 64 columns, and the
// reference and sum of the weights.
struct AttentionRows {
  std::uint32_t query[4][4];
  float out[32] = {};
  float top[2] = {WarpgroupAttention::kMinusInfinity, WarpgroupAttention::kMinusInfinity};
  float sum[2] = {0, 0};
};

template <Number16 kType>
__device__ __forceinline__ void multiply_keys(const AttentionShared& shared, int stage,
                                              const AttentionRows& rows, float (&score)[32]) {
  const std::uint64_t keys = operand_at(shared.keys(stage));
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    WarpgroupProduct<64, kType>::template right<false>(score, rows.query[k],
                                                       operand_after(keys, 32 * k), k > 0);
  }
}

template <Number16 kType>
__device__ __forceinline__ void multiply_values(const AttentionShared& shared, int stage,
                                                const std::uint32_t (&weight)[16],
                                                AttentionRows& rows) {
  const std::uint64_t values = operand_at(shared.values(stage));
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    WarpgroupProduct<64, kType>::template right<true>(rows.out, weight + 4 * k,
                                                      operand_after(values, 16 * 128 * k), 1);
  }
}

// The largest score of each row, scaled.
__device__ __forceinline__ void find_tops(const float (&score)[32], float scale, float (&top)[2]) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    top[half] = fmaxf(score[2 * half], score[2 * half + 1]);
#pragma unroll
    for (int j = 1; j < 8; ++j) {
      top[half] = fmaxf(top[half], fmaxf(score[4 * j + 2 * half], score[4 * j + 2 * half + 1]));
    }
    top[half] = fmaxf(top[half], wave_shuffle_xor<32>(top[half], 1));
    top[half] = fmaxf(top[half], wave_shuffle_xor<32>(top[half], 2)) * scale;
  }
}

// Turns scores into weights as the next product's operand.
template <Number16 kType>
__device__ __forceinline__ void weigh_scores(const float (&score)[32], const float (&top)[2],
                                             float scale, AttentionRows& rows,
                                             std::uint32_t (&weight)[16]) {
  // A row's reference depends on its own scores alone; rows that keep theirs are scaled by 1.
  const bool raises0 = top[0] > rows.top[0] + WarpgroupAttention::kTolerance;
  const bool raises1 = top[1] > rows.top[1] + WarpgroupAttention::kTolerance;
  if (wave_ballot<32>(raises0 || raises1) != 0) {
    float factor[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float reference = (half == 0 ? raises0 : raises1) ? top[half] : rows.top[half];
      factor[half] = fast_exp2(rows.top[half] - reference);
      rows.top[half] = reference;
      rows.sum[half] *= factor[half];
    }
#pragma unroll
    for (int i = 0; i < 32; ++i) rows.out[i] *= factor[i / 2 % 2];
  }
#pragma unroll
  for (int i = 0; i < 32; i += 2) {
    const int half = i / 2 % 2;
    const float x = fast_exp2(score[i] * scale - rows.top[half]);
    const float y = fast_exp2(score[i + 1] * scale - rows.top[half]);
    rows.sum[half] += x + y;
    weight[i / 2] = number16_pair<kType>(x, y);
  }
}

// The step's last keys lie beyond the sequence: no weight for them, and nothing that a weight of
// zero could turn into NaN in the rows of values. Both warpgroups clear the same rows.
__device__ __forceinline__ void end_sequence(const AttentionShared& shared, int stage, int n_keys,
                                             float (&score)[32]) {
  const int thread = static_cast<int>(threadIdx.x) % kWarpgroup;
#pragma unroll
  for (int i = 0; i < 32; ++i) {
    if (i / 4 * 8 + thread % 4 * 2 + i % 2 >= n_keys) score[i] = WarpgroupAttention::kMinusInfinity;
  }
  auto* const pieces = reinterpret_cast<Bytes16*>(shared.values(stage));
  for (int i = 8 * n_keys + thread; i < 8 * WarpgroupAttention::kKeys; i += kWarpgroup)
    pieces[i] = {};
  publish_shared();
  named_barrier<kWarpgroup>(1 + warpgroup_of_block());
}

// Results leave through the room of the queries, so that whole rows are stored at once.
template <Number16 kType>
__device__ __forceinline__ void store_rows(const AttentionArgs& a, const QueryTile& tile, int head,
                                           std::uint8_t* room, AttentionRows& rows) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int wave_row = static_cast<int>(threadIdx.x) / 32 * 16;
  float factor[2];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    float sum = rows.sum[half];
    sum += wave_shuffle_xor<32>(sum, 1);
    sum += wave_shuffle_xor<32>(sum, 2);
    factor[half] = 1.0f / sum;
    const int query = tile.first + wave_row + lane / 4 + 8 * half;
    if (a.log_sum_exp != nullptr && lane % 4 == 0 && query < tile.length) {
      a.log_sum_exp[head * a.log_sum_exp_stride + tile.begin + query] =
          (rows.top[half] + log2f(sum)) / WarpgroupAttention::kLog2E;
    }
  }
#pragma unroll
  for (int j = 0; j < 8; j += 2) {
    std::uint32_t word[4];
#pragma unroll
    for (int p = 0; p < 4; ++p) {
      const float* const x = rows.out + 4 * j + 2 * p;
      word[p] = number16_pair<kType>(x[0] * factor[p % 2], x[1] * factor[p % 2]);
    }
    store_tiles4(shared_address(room) + box_piece(wave_row + lane % 16, j + lane / 16), word);
  }
  wave_sync<32>();
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int row = wave_row + 4 * i + lane / 8, piece = lane % 8;
    const int query = tile.first + row;
    if (query >= tile.length) continue;
    const auto bytes = *reinterpret_cast<const Bytes16*>(room + box_piece(row, piece));
    *reinterpret_cast<Bytes16*>(static_cast<std::uint16_t*>(a.out.data) +
                                (tile.begin + query) * a.out.stride +
                                head * WarpgroupAttention::kHead + 8 * piece) = bytes;
  }
}

// All keys and values of one tile of queries, whose first step is there. used() is called once the
// products of a step have been given out: the wave that copies has time then.
template <Number16 kType, class Used>
__device__ __forceinline__ void attend_tile(const AttentionShared& shared, int length, float scale,
                                            AttentionPipelineState& turn, AttentionRows& rows,
                                            Used&& used) {
  using A = WarpgroupAttention;
  const int n_steps = attention_steps(length);
  const bool first_lane = threadIdx.x % 32 == 0;
  float score[32], top[2];
  std::uint32_t weight[16];
  products_begin();
  multiply_keys<kType>(shared, turn.stage, rows, score);
  products_commit();
  products_wait<0>();
  products_fence(score);
  find_tops(score, scale, top);
  for (int step = 1; step < n_steps; ++step) {
    weigh_scores<kType>(score, top, scale, rows, weight);
    const int stage = turn.stage;
    turn.advance();
    barrier_wait(shared.full(turn.stage), turn.parity);
    products_fence(rows.out);
    products_fence(weight);
    products_begin();
    multiply_keys<kType>(shared, turn.stage, rows, score);
    products_commit();
    multiply_values<kType>(shared, stage, weight, rows);
    products_commit();
    used();
    products_wait<1>();
    products_fence(score);
    find_tops(score, scale, top);
    products_wait<0>();
    products_fence(rows.out);
    if (first_lane) barrier_arrive(shared.empty(stage));
  }
  const int n_keys = length - (n_steps - 1) * A::kKeys;
  if (n_keys < A::kKeys) {
    end_sequence(shared, turn.stage, n_keys, score);
    find_tops(score, scale, top);
  }
  weigh_scores<kType>(score, top, scale, rows, weight);
  products_fence(rows.out);
  products_fence(weight);
  products_begin();
  multiply_values<kType>(shared, turn.stage, weight, rows);
  products_commit();
  used();
  products_wait<0>();
  products_fence(rows.out);
  if (first_lane) barrier_arrive(shared.empty(turn.stage));
  turn.advance();
}

template <Number16 kType>
__global__ BIOGPU_LAUNCH_BOUNDS(WarpgroupAttention::kThreads, 2)  //
    void attention_warpgroup_kernel(const AttentionArgs a,
                                    const BIOGPU_GRID_CONSTANT AttentionMaps maps) {
  BIOGPU_DYNAMIC_SHARED(std::uint8_t, dynamic);
  const AttentionShared shared = {dynamic + (1024 - shared_address(dynamic) % 1024) % 1024};
  const bool copies = wave_of_block() == WarpgroupAttention::kCopyingWave;
  if (threadIdx.x == 0) init_barriers(shared);
  __syncthreads();
  const int n_items = *a.n_tiles * a.n_heads;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int wave_row = static_cast<int>(threadIdx.x) / 32 * 16;
  const float scale = a.scale * WarpgroupAttention::kLog2E;
  AttentionCopies copier(n_items);
  if (copies) {
    copier.begin(a, shared);
    copier.copy_ahead(a, maps, shared, 0, 0);
  }
  AttentionPipelineState turn;
  int n_used = 0, n_finished = 0;
  for (int i = static_cast<int>(blockIdx.x); i < n_items; i += static_cast<int>(gridDim.x)) {
    barrier_wait(shared.full(turn.stage), turn.parity);
    const int room = n_finished % 2;
    const int length = wave_shuffle<32>(shared.tile(room)->length, 0);  // known to be the same
    AttentionRows rows;
    const std::uint32_t queries = shared_address(shared.queries(room));
#pragma unroll
    for (int k = 0; k < 4; ++k)
      load_tiles4(queries + box_piece(wave_row + lane % 16, 2 * k + lane / 16), rows.query[k]);
    attend_tile<kType>(shared, length, scale, turn, rows, [&] {
      if (copies) copier.copy_ahead(a, maps, shared, n_used, n_finished);
      ++n_used;
      wave_sync<32>();
    });
    store_rows<kType>(a, *shared.tile(room), *shared.head(room), shared.queries(room), rows);
    publish_shared();
    wave_sync<32>();
    if (lane == 0) barrier_arrive(shared.room_empty(room));
    ++n_finished;
  }
}

}  // namespace biogpu::gpu::ops
