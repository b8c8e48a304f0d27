#pragma once

// What shared_bias_warpgroup.hip's kernel is made of: one wave that copies, and warpgroups with 128
// queries each of batch rows of their own, which share the tiles of a bias. For Hopper alone.

#include <cmath>

#include "gpu/ops/attention/dot_product/shared_bias_copies.hpp"
#include "gpu/prim/fast_math.hpp"
#include "gpu/prim/number16.hpp"
#include "gpu/prim/warpgroup_product.hpp"

namespace biogpu::gpu::ops {

// A row's sum of weights within these bounds is right: no weight that counts was lost below the
// smallest number, and none went beyond the largest one. fp16 weights below 2^-14 have few digits:
// beside the weight 1 of the reference they do not count, but where all keys of the first step are
// masked there is no such weight.
template <class S>
inline constexpr float kMinWeightSum = S::kReferenced ? 0.5f : 0x1p-60f;
inline constexpr float kMaxWeightSum = 0x1p60f;

template <class S>
__device__ __forceinline__ std::uint64_t head_operand(const void* p) {
  if constexpr (S::kHead == 32) return narrow_operand_at(p);
  return operand_at(p);
}

// score = queries keys^T of 64 queries and 64 keys.
template <class S>
__device__ __forceinline__ void multiply_shared_keys(std::uint64_t queries, std::uint64_t keys,
                                                     float (&score)[32]) {
#pragma unroll
  for (int k = 0; k < S::kHead / 16; ++k)
    WarpgroupProduct<64, S::kType>::both(score, operand_after(queries, 32 * k),
                                         operand_after(keys, 32 * k), k > 0);
}

// out += weights values, with the weights' sum behind the columns of values.
template <class S>
__device__ __forceinline__ void multiply_shared_values(const SharedBiasStorage<S>& shared,
                                                       int stage, int group,
                                                       const std::uint32_t (&weight)[16],
                                                       float (&out)[S::kSums]) {
  constexpr int kBytes = 16 * 2 * S::kHead;  // of 16 keys
  const std::uint8_t* const values = shared.values(stage, group);
  const std::uint64_t first = head_operand<S>(values);
  const auto ones = static_cast<int>(shared.ones() - values);
#pragma unroll
  for (int k = 0; k < S::kKeys / 16; ++k)
    WarpgroupProduct<S::kColumns, S::kType>::template right<true>(
        out, weight + 4 * k, operand_beside(operand_after(first, kBytes * k), ones - kBytes * k),
        1);
}

// A warpgroup's two tiles of queries, of which one is weighed at a time.
template <class S>
struct SharedBiasRows {
  float score[32];
  std::uint32_t weight[16];
  float out[2][S::kSums];
  float reference[2][2];  // of rows l / 4 and 8 further, if S::kReferenced

  __device__ __forceinline__ void begin() {
#pragma unroll
    for (int t = 0; t < 2; ++t) {
#pragma unroll
      for (int i = 0; i < S::kSums; ++i) out[t][i] = 0;
      reference[t][0] = reference[t][1] = 0;
    }
  }
  __device__ __forceinline__ void fence() {
    products_fence(score);
    products_fence(weight);
    products_fence(out[0]);
    products_fence(out[1]);
  }
  // Weights as the next products' operands. Not while products are under way that read these
  // registers: the compiler then lets no two products run at once.
  __device__ __forceinline__ void pack() {
#pragma unroll
    for (int i = 0; i < 16; ++i)
      weight[i] = number16_pair_or_infinite<S::kType>(score[2 * i], score[2 * i + 1]);
  }
};

// What one warpgroup knows of an item.
template <class S>
struct SharedBiasWork {
  const SharedBiasArgs& a;
  const SharedBiasStorage<S>& shared;
  int group, buffer;
  const std::uint64_t* masked;  // of this batch row, or nullptr
  float masked_score;
};

// The masked keys of a step, shifted so that a lane's keys are bits 8 j and 8 j + 1 of each half.
struct MaskedKeys {
  std::uint32_t word[2];
  __device__ __forceinline__ explicit MaskedKeys(std::uint64_t bits) {
    bits >>= threadIdx.x % 4 * 2;
    word[0] = static_cast<std::uint32_t>(bits);
    word[1] = static_cast<std::uint32_t>(bits >> 32);
  }
};

// Scores become weights, in place.
template <class S, bool kMasked>
__device__ __forceinline__ void weigh_shared_scores(const SharedBiasWork<S>& work,
                                                    const std::uint32_t (&bias)[16],
                                                    const MaskedKeys& masked, float (&score)[32],
                                                    float (&reference)[2]) {
#pragma unroll
  for (int i = 0; i < 32; ++i) {
    float x = score[i] * work.a.scale + number16_of_pair<Number16::fp16>(bias[i / 2], i % 2);
    if constexpr (S::kReferenced) x -= reference[i / 2 % 2];
    if constexpr (kMasked) {
      if ((masked.word[i / 16] >> (8 * (i / 4 % 4) + i % 2) & 1) != 0) x = work.masked_score;
    }
    score[i] = fast_exp2(x);
  }
}

// The greatest score of each row of a step, as what later ones are weighed against.
template <class S>
__device__ __forceinline__ void find_references(const SharedBiasWork<S>& work,
                                                const std::uint32_t (&bias)[16],
                                                const MaskedKeys& masked, float (&score)[32],
                                                float (&reference)[2]) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    float top = -INFINITY;
#pragma unroll
    for (int i = half; i < 16; i += 2) {
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const float x =
            score[2 * i + e] * work.a.scale + number16_of_pair<Number16::fp16>(bias[i], e);
        if ((masked.word[i / 8] >> (8 * (i / 2 % 4) + e) & 1) == 0) top = fmaxf(top, x);
      }
    }
    top = fmaxf(top, wave_shuffle_xor<32>(top, 1));
    top = fmaxf(top, wave_shuffle_xor<32>(top, 2));
    reference[half] = top > -1e30f ? top : 0;
  }
}

// The scores of one tile and step of keys, whose products are done but for kLeft groups, become
// weights.
template <class S, bool kMasks, int kLeft>
__device__ __forceinline__ void weigh_shared_tile(const SharedBiasWork<S>& work, int which,
                                                  int step, int stage, std::uint64_t masked,
                                                  float (&score)[32], float (&reference)[2]) {
  std::uint32_t bias[16];
  const auto* const from =
      reinterpret_cast<const std::uint16_t*>(work.shared.bias(stage)) + which * BiasLayout::kTile;
#pragma unroll
  for (int i = 0; i < 16; i += 4)
    load_words4(from + BiasLayout::pair_at(static_cast<int>(threadIdx.x) % kWarpgroup, i),
                bias + i);
  products_wait<kLeft>();
  products_fence(score);
  const MaskedKeys keys(kMasks ? masked : 0);
  if constexpr (S::kReferenced) {
    if (step == 0) find_references(work, bias, keys, score, reference);
  }
  if (kMasks && masked != 0) {
    weigh_shared_scores<S, kMasks>(work, bias, keys, score, reference);
  } else {
    weigh_shared_scores<S, false>(work, bias, keys, score, reference);
  }
}

// All keys of one item, two tiles of queries in turn. While values of one tile are multiplied,
// scores of the other one are weighed. `rows` has one set of scores and weights: the products of a
// tile that read them are done before the other one's are packed.
template <class S, bool kMasks>
__device__ __forceinline__ void attend_shared_item(const SharedBiasWork<S>& work,
                                                   PipelineState<S::kStages>& turn,
                                                   SharedBiasRows<S>& rows) {
  const bool first_lane = threadIdx.x % 32 == 0;
  const int n_steps = work.a.layout.n_steps;
  rows.begin();
  // Products with keys of turn.stage.
  const auto start_key_products = [&](int t) {
    products_begin();
    multiply_shared_keys<S>(head_operand<S>(work.shared.queries(work.buffer, work.group, t)),
                            head_operand<S>(work.shared.keys(turn.stage, work.group)), rows.score);
    products_commit();
  };
  const auto start_value_products = [&](int t, int stage) {
    multiply_shared_values<S>(work.shared, stage, work.group, rows.weight, rows.out[t]);
    products_commit();
  };
  // Waits for all products. They run during the weighing in front of this call.
  const auto wait_for_products = [&] {
    products_wait_behind(rows.score[31]);
    rows.fence();
  };
  std::uint64_t masked = kMasks ? work.masked[0] : 0;
  barrier_wait(work.shared.full(turn.stage), turn.parity);
  start_key_products(0);
  weigh_shared_tile<S, kMasks, 0>(work, 0, 0, turn.stage, masked, rows.score, rows.reference[0]);
  rows.pack();
  for (int step = 0;; ++step) {
    rows.fence();
    start_key_products(1);
    start_value_products(0, turn.stage);
    weigh_shared_tile<S, kMasks, 1>(work, 1, step, turn.stage, masked, rows.score,
                                    rows.reference[1]);
    wait_for_products();
    rows.pack();
    if (step + 1 == n_steps) break;
    const int stage = turn.stage;
    turn.advance();
    if constexpr (kMasks) masked = work.masked[step + 1];
    barrier_wait(work.shared.full(turn.stage), turn.parity);
    rows.fence();
    start_key_products(0);
    start_value_products(1, stage);
    weigh_shared_tile<S, kMasks, 1>(work, 0, step + 1, turn.stage, masked, rows.score,
                                    rows.reference[0]);
    wait_for_products();
    if (first_lane) barrier_arrive(work.shared.empty(stage));
    rows.pack();
  }
  rows.fence();
  products_begin();
  start_value_products(1, turn.stage);
  products_wait<0>();
  rows.fence();
  if (first_lane) barrier_arrive(work.shared.empty(turn.stage));
  turn.advance();
}

// Where a row of a box of heads has a piece of 16 bytes, as gpu/rt/tensor_map.hpp says.
template <class S>
__device__ __forceinline__ int head_piece(int row, int piece) {
  if constexpr (S::kHead == 32) return row * 64 + 16 * (piece ^ (row / 2 & 3));
  return box_piece(row, piece);
}

// Results take the place of the tile's queries. Rows whose weights left the range are noted.
template <class S>
__device__ __forceinline__ void write_results(const SharedBiasWork<S>& work, int batch, int head,
                                              int first, const float (&out)[S::kSums],
                                              std::uint8_t* buffer) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int wave_row = static_cast<int>(threadIdx.x) % kWarpgroup / 32 * 16;
  float factor[2];
  bool lost = false;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const float sum = out[S::kHead / 2 + 2 * half];
    factor[half] = 1.0f / sum;
    const bool there = first + wave_row + lane / 4 + 8 * half < work.a.n_queries;
    lost = lost || (there && !(sum > kMinWeightSum<S> && sum < kMaxWeightSum));
  }
  if (wave_ballot<32>(lost && batch < work.a.n_batches) != 0 && lane == 0) {
    work.a.redo[0] = 1;
    const std::int64_t tiles = std::int64_t{S::kTiles} * work.a.layout.n_pairs;
    work.a.redo[1 + (std::int64_t{batch} * work.a.n_heads + head) * tiles + first / 64] = 1;
  }
#pragma unroll
  for (int j = 0; j < S::kHead / 8; j += 2) {
    std::uint32_t word[4];
#pragma unroll
    for (int p = 0; p < 4; ++p) {
      const float* const x = out + 4 * j + 2 * p;
      word[p] = number16_pair<S::kType>(x[0] * factor[p % 2], x[1] * factor[p % 2]);
    }
    store_tiles4(shared_address(buffer) +
                     static_cast<std::uint32_t>(head_piece<S>(wave_row + lane % 16, j + lane / 16)),
                 word);
  }
}

template <class S, bool kMasks>
__device__ __forceinline__ void attend_shared_items(const SharedBiasArgs& a,
                                                    const SharedBiasMaps& maps,
                                                    const SharedBiasStorage<S>& shared) {
  const int group = warpgroup_of_block() - 1;
  const bool stores = wave_of_block() % 4 == 0;
  PipelineState<S::kStages> turn;
  PipelineState<S::kQueryBuffers> buffer;
  int stored_buffer = -1;  // whose results may still be on their way
  const auto release_queries = [&] {
    if (!stores || stored_buffer < 0) return;
    if (threadIdx.x % 32 == 0) {
      stores_read<0>();
      barrier_arrive(shared.queries_empty(stored_buffer));
    }
  };
  const int n_items = SharedBiasItem<S>::count(a);
  for (int i = static_cast<int>(blockIdx.x); i < n_items; i += static_cast<int>(gridDim.x)) {
    const SharedBiasItem<S> item(a, i);
    const int batch = item.first_batch + group;
    const int known = batch < a.n_batches ? batch : a.n_batches - 1;
    const SharedBiasWork<S> work = {
        a,
        shared,
        group,
        buffer.stage,
        kMasks ? a.masked + std::int64_t{known} * a.layout.n_steps : nullptr,
        kMasks ? a.masked_score[known] : 0};
    barrier_wait(shared.queries_full(buffer.stage), buffer.parity);
    SharedBiasRows<S> rows;
    release_queries();
    attend_shared_item<S, kMasks>(work, turn, rows);
#pragma unroll
    for (int t = 0; t < 2; ++t)
      write_results<S>(work, batch, item.head, item.pair * S::kQueries + 64 * t, rows.out[t],
                       shared.queries(buffer.stage, group, t));
    publish_shared();
    named_barrier<kWarpgroup>(1 + group);
    if (stores && threadIdx.x % 32 == 0) {
      for (int t = 0; t < 2; ++t)
        store_head_box(&maps.out, item.pair * S::kQueries + 64 * t, item.head, batch,
                       shared.queries(buffer.stage, group, t));
      stores_commit();
    }
    stored_buffer = buffer.stage;
    buffer.advance();
  }
  if (stores && threadIdx.x % 32 == 0) stores_read<0>();
}

template <class S, bool kMasks>
__global__ BIOGPU_LAUNCH_BOUNDS(S::kThreads, 1)  //
    void shared_bias_kernel(const SharedBiasArgs a,
                            const BIOGPU_GRID_CONSTANT SharedBiasMaps maps) {
  BIOGPU_DYNAMIC_SHARED(std::uint8_t, dynamic);
  const SharedBiasStorage<S> shared = {dynamic + (1024 - shared_address(dynamic) % 1024) % 1024};
  shared.init();
  __syncthreads();
  if (threadIdx.x < kWarpgroup) {
    give_registers<24>();
    if (wave_of_block() == 0) copy_shared_bias_items<S>(a, maps, shared);
  } else {
    take_registers<S::kRegisters>();
    attend_shared_items<S, kMasks>(a, maps, shared);
  }
}

}  // namespace biogpu::gpu::ops
