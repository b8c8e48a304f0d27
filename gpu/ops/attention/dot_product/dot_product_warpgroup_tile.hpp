#pragma once

// What dot_product_warpgroup.hip's kernel is made of: one wave that copies and two warpgroups with
// 64 queries each that share keys and values. For Hopper alone.

#include "gpu/ops/attention/dot_product/dot_product_args.hpp"
#include "gpu/ops/element_access.hpp"
#include "gpu/prim/fast_math.hpp"
#include "gpu/prim/number16.hpp"
#include "gpu/prim/tma_ring.hpp"
#include "gpu/prim/warpgroup_product.hpp"
#include "gpu/rt/kernel.hpp"

namespace biogpu::gpu::ops {

struct DotMaps {
  TensorMap q, k, v;
};

struct WarpgroupDot {
  static constexpr int kHead = 128, kHeadV = 192;
  static constexpr int kKeys = 64;     // a step
  static constexpr int kQueries = 64;  // of a warpgroup
  static constexpr int kStages = 4;
  static constexpr int kGroups = 2;  // warpgroups that compute
  static constexpr int kThreads = (1 + kGroups) * kWarpgroup;
  static constexpr int kWaves = kGroups * kWarpgroup / 32;  // that read a stage
  static constexpr int kBoxBytes = 128 * 64;                // 64 rows of 64 numbers
  static constexpr int kHeadBytes = kHead / 64 * kBoxBytes;
  static constexpr int kStageBytes = kHeadBytes + kHeadV / 64 * kBoxBytes;
  static constexpr std::size_t kSharedBytes = 1024 + kStages * kStageBytes + kGroups * kHeadBytes +
                                              (2 * kStages + 2) * sizeof(SharedBarrier);
  static constexpr float kLog2E = 1.4426950408889634f;
  // A score that equals the cap weighs 2^15, one of minus the cap at least 2^-13: normal numbers
  // of fp16. In units of log2.
  static constexpr float kTopWeight = 15, kLargestCap = 14;
};

struct DotShared {
  using A = WarpgroupDot;
  std::uint8_t* base;
  __device__ __forceinline__ std::uint8_t* keys(int stage) const {
    return base + stage * A::kStageBytes;
  }
  __device__ __forceinline__ std::uint8_t* values(int stage) const {
    return keys(stage) + A::kHeadBytes;
  }
  __device__ __forceinline__ std::uint8_t* queries(int group) const {
    return keys(A::kStages) + group * A::kHeadBytes;
  }
  __device__ __forceinline__ SharedBarrier* full(int stage) const {
    return reinterpret_cast<SharedBarrier*>(queries(A::kGroups)) + stage;
  }
  __device__ __forceinline__ SharedBarrier* empty(int stage) const {
    return full(A::kStages) + stage;
  }
  __device__ __forceinline__ SharedBarrier* queries_full() const { return empty(A::kStages); }
  __device__ __forceinline__ SharedBarrier* queries_empty() const { return queries_full() + 1; }

  __device__ __forceinline__ void init_barriers() const {
    for (int stage = 0; stage < A::kStages; ++stage) {
      barrier_init(full(stage), 1);
      barrier_init(empty(stage), A::kWaves);
    }
    barrier_init(queries_full(), 1);
    barrier_init(queries_empty(), A::kWaves);
    barrier_init_done();
  }
};

using DotPipelineState = PipelineState<WarpgroupDot::kStages>;

// 64 queries of one head. !is_there: those of the other warpgroup, computed again and not stored.
struct DotPiece {
  int b, head, key_head, first;
  bool is_there;
};

// Items of a block: two pieces of one key head each, the heads of one tile of queries first.
struct DotOrder {
  using A = WarpgroupDot;
  int n_batches, n_key_heads, heads_of_key, n_pieces, n_pairs;

  __host__ __device__ __forceinline__ explicit DotOrder(const DotProductArgs& a)
      : n_batches(static_cast<int>(a.n_batches)),
        n_key_heads(a.n_heads / a.heads_of_key),
        heads_of_key(a.heads_of_key),
        n_pieces(ceil_div(a.n_queries, A::kQueries) * a.heads_of_key),
        n_pairs(ceil_div(n_pieces, A::kGroups)) {}
  __host__ __device__ __forceinline__ int size() const { return n_batches * n_key_heads * n_pairs; }
  __device__ __forceinline__ DotPiece piece(int item, int group) const {
    const int of_key = item / n_pairs;
    const int wanted = (item - of_key * n_pairs) * A::kGroups + group;
    const int i = wanted < n_pieces ? wanted : n_pieces - 1;
    DotPiece piece;
    piece.b = of_key / n_key_heads;
    piece.key_head = of_key - piece.b * n_key_heads;
    const int tile = i / heads_of_key;
    piece.head = piece.key_head * heads_of_key + i - tile * heads_of_key;
    piece.first = tile * A::kQueries;
    piece.is_there = wanted < n_pieces;
    return piece;
  }
};

// One lane: the boxes of one head, one behind the other.
template <int kColumns>
__device__ __forceinline__ void copy_head_boxes(std::uint8_t* to, const TensorMap* map, int row,
                                                int column, SharedBarrier* barrier) {
#pragma unroll
  for (int box = 0; box < kColumns / 64; ++box)
    copy_box(to + box * WarpgroupDot::kBoxBytes, map, row, column + 64 * box, barrier);
}

// Of one wave: all that the block's warpgroups read.
__device__ __forceinline__ void copy_dot_items(const DotProductArgs& a, const DotMaps& maps,
                                               const DotOrder& order, const DotShared& shared) {
  using A = WarpgroupDot;
  DotPipelineState turn;
  int parity = 1;
  for (int item = static_cast<int>(blockIdx.x); item < order.size();
       item += static_cast<int>(gridDim.x)) {
    barrier_wait(shared.queries_empty(), parity);
    parity ^= 1;
    const DotPiece piece = order.piece(item, 0);
    if (one_lane()) {
      barrier_expect(shared.queries_full(), A::kGroups * A::kHeadBytes);
      for (int group = 0; group < A::kGroups; ++group) {
        const DotPiece of = order.piece(item, group);
        copy_head_boxes<A::kHead>(shared.queries(group), &maps.q, of.b * a.n_queries + of.first,
                                  of.head * static_cast<int>(a.q.head), shared.queries_full());
      }
    }
    const int key_column = piece.key_head * static_cast<int>(a.k.head);
    const int value_column = piece.key_head * static_cast<int>(a.v.head);
    for (int key = 0; key < a.n_keys; key += A::kKeys) {
      SharedBarrier* const full = shared.full(turn.stage);
      barrier_wait(shared.empty(turn.stage), turn.parity ^ 1);
      const int row = piece.b * a.n_keys + key;
      if (one_lane()) {
        barrier_expect(full, A::kStageBytes);
        copy_head_boxes<A::kHead>(shared.keys(turn.stage), &maps.k, row, key_column, full);
        copy_head_boxes<A::kHeadV>(shared.values(turn.stage), &maps.v, row, value_column, full);
      }
      turn.advance();
    }
  }
}

// How products become weights. With a fixed reference: 2^(kTopWeight + cap tanh(x / cap) - cap),
// where tanh(y) is 1 - 2 / (e^(2 y) + 1).
struct DotWeighing {
  float scale, bias;  // of a product and a bias, to 2 y log2 e
  float cap;          // twice

  __device__ __forceinline__ explicit DotWeighing(const DotProductArgs& a)
      : scale(2 * WarpgroupDot::kLog2E / a.soft_cap * a.scale),
        bias(2 * WarpgroupDot::kLog2E / a.soft_cap * WarpgroupDot::kLog2E),
        cap(2 * a.soft_cap) {}
  // Of two products, in place. One reciprocal serves both: a processor computes 16 of these and of
  // exponentials in the time of 128 multiplications, and they take longer than the matrix cores.
  // Where y is more than the bound, tanh(y) is 1 in fp32.
  __device__ __forceinline__ void weigh(float added, float& x, float& y) const {
    constexpr float kBound = 60;  // the product of two of them is finite
    x = fast_exp2(at_most(x * scale + added, kBound)) + 1;
    y = fast_exp2(at_most(y * scale + added, kBound)) + 1;
    const float both = fast_reciprocal(x * y) * cap;
    const float of_x = both * y;
    y = fast_exp2(WarpgroupDot::kTopWeight - both * x);
    x = fast_exp2(WarpgroupDot::kTopWeight - of_x);
  }
};

// The bias of the 16 queries of a wave: one number for each 16 keys.
struct DotTileBias {
  const std::uint8_t* data = nullptr;
  Element type;
  int apart = 0;  // bytes from a block to the next
  int shift = 0;  // 16 << shift keys are a block

  // row: the first of the 16.
  __device__ __forceinline__ DotTileBias(const DotProductArgs& a, const DotPiece& piece, int row)
      : type(a.bias.type) {
    if (a.bias.data == nullptr) return;
    while (16 << shift < a.bias_block) ++shift;
    const int bytes = type == Element::f32 ? 4 : 2;
    const int query = row < a.n_queries ? row : a.n_queries - 1;
    const std::int64_t at = piece.b % a.bias_batches * a.bias_stride[0] +
                            piece.head * a.bias_stride[1] +
                            (query / 16 >> shift) * a.bias_stride[2];
    data = static_cast<const std::uint8_t*>(a.bias.data) + at * bytes;
    apart = static_cast<int>(a.bias_stride[3]) * bytes;
  }
  __device__ __forceinline__ void load(int step, float (&x)[4]) const {
    if (data == nullptr) return;
    const auto at = [&](int j) { return data + ((4 * step + j) >> shift) * apart; };
    if (type == Element::f32) {
#pragma unroll
      for (int j = 0; j < 4; ++j) x[j] = *reinterpret_cast<const float*>(at(j));
    } else {
#pragma unroll
      for (int j = 0; j < 4; ++j)
        x[j] = load_element({const_cast<std::uint8_t*>(at(j)), 0, type}, 0, 0);
    }
  }
};

// What one lane knows of its two rows of queries, row and row + 8.
struct DotRows {
  std::uint32_t query[WarpgroupDot::kHead / 16][4];
  float out[WarpgroupDot::kHeadV / 2] = {};
  float sum[2] = {0, 0};
};

__device__ __forceinline__ void load_dot_queries(const DotShared& shared, int group, int wave_row,
                                                 DotRows& rows) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::uint32_t queries = shared_address(shared.queries(group));
#pragma unroll
  for (int k = 0; k < WarpgroupDot::kHead / 16; ++k) {
    const int piece = 2 * (k % 4) + lane / 16;
    load_tiles4(queries + k / 4 * WarpgroupDot::kBoxBytes + box_piece(wave_row + lane % 16, piece),
                rows.query[k]);
  }
}

template <Number16 kType>
__device__ __forceinline__ void multiply_dot_keys(const DotShared& shared, int stage,
                                                  const DotRows& rows, float (&score)[32]) {
  const std::uint64_t keys = operand_at(shared.keys(stage));
#pragma unroll
  for (int k = 0; k < WarpgroupDot::kHead / 16; ++k) {
    const int at = k / 4 * WarpgroupDot::kBoxBytes + k % 4 * 32;
    WarpgroupProduct<64, kType>::template right<false>(score, rows.query[k],
                                                       operand_after(keys, at), k > 0);
  }
}

template <Number16 kType>
__device__ __forceinline__ void multiply_dot_values(const DotShared& shared, int stage,
                                                    const std::uint32_t (&weight)[16],
                                                    DotRows& rows) {
  const std::uint64_t values = wide_operand_at(shared.values(stage), WarpgroupDot::kBoxBytes);
#pragma unroll
  for (int k = 0; k < WarpgroupDot::kKeys / 16; ++k) {
    WarpgroupProduct<WarpgroupDot::kHeadV, kType>::template right<true>(
        rows.out, weight + 4 * k, operand_after(values, 16 * 128 * k), 1);
  }
}

// Turns products into weights, in place.
__device__ __forceinline__ void weigh_dot_scores(const DotWeighing& weighing,
                                                 const float (&bias)[4], float (&score)[32],
                                                 float (&sum)[2]) {
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    const float added = bias[j] * weighing.bias;
#pragma unroll
    for (int i = 8 * j; i < 8 * j + 8; i += 2) {
      weighing.weigh(added, score[i], score[i + 1]);
      sum[i / 2 % 2] += score[i] + score[i + 1];
    }
  }
}

// As the next product's operand. Not while a product is under way that reads these registers: the
// compiler then lets no two products run at once.
template <Number16 kType>
__device__ __forceinline__ void pack_dot_weights(const float (&score)[32],
                                                 std::uint32_t (&weight)[16]) {
#pragma unroll
  for (int i = 0; i < 16; ++i) weight[i] = number16_pair<kType>(score[2 * i], score[2 * i + 1]);
}

// All keys and values of one piece. While values of one step are multiplied, the next step's scores
// are weighed.
template <Number16 kType>
__device__ __forceinline__ void attend_piece(const DotShared& shared, int n_steps,
                                             const DotWeighing& weighing, const DotTileBias& biases,
                                             DotPipelineState& turn, DotRows& rows) {
  const bool first_lane = threadIdx.x % 32 == 0;
  float score[32], bias[4] = {0, 0, 0, 0}, next_bias[4] = {0, 0, 0, 0};
  std::uint32_t weight[16];
  biases.load(0, bias);
  barrier_wait(shared.full(turn.stage), turn.parity);
  products_begin();
  multiply_dot_keys<kType>(shared, turn.stage, rows, score);
  products_commit();
  if (n_steps > 1) biases.load(1, next_bias);
  products_wait<0>();
  products_fence(score);
  weigh_dot_scores(weighing, bias, score, rows.sum);
  pack_dot_weights<kType>(score, weight);
  for (int step = 1; step < n_steps; ++step) {
    const int stage = turn.stage;
    turn.advance();
    barrier_wait(shared.full(turn.stage), turn.parity);
    products_fence(score);
    products_fence(rows.out);
    products_fence(weight);
    products_begin();
    multiply_dot_keys<kType>(shared, turn.stage, rows, score);
    products_commit();
    multiply_dot_values<kType>(shared, stage, weight, rows);
    products_commit();
#pragma unroll
    for (int j = 0; j < 4; ++j) bias[j] = next_bias[j];
    if (step + 1 < n_steps) biases.load(step + 1, next_bias);
    products_wait<1>();
    products_fence(score);
    weigh_dot_scores(weighing, bias, score, rows.sum);
    products_wait_behind(rows.sum[0] + rows.sum[1]);
    products_fence(rows.out);
    products_fence(weight);
    if (first_lane) barrier_arrive(shared.empty(stage));
    pack_dot_weights<kType>(score, weight);
  }
  products_fence(rows.out);
  products_fence(weight);
  products_begin();
  multiply_dot_values<kType>(shared, turn.stage, weight, rows);
  products_commit();
  products_wait<0>();
  products_fence(rows.out);
  if (first_lane) barrier_arrive(shared.empty(turn.stage));
  turn.advance();
}

template <Number16 kType>
__device__ __forceinline__ void store_dot_rows(const DotProductArgs& a, const DotPiece& piece,
                                               int row, const DotRows& rows) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    float sum = rows.sum[half];
    sum += wave_shuffle_xor<32>(sum, 1);
    sum += wave_shuffle_xor<32>(sum, 2);
    const int query = row + lane / 4 + 8 * half;
    if (!piece.is_there || query >= a.n_queries) continue;
    if (a.log_sum_exp != nullptr && lane % 4 == 0)
      a.log_sum_exp[piece.b * a.sums_batch + piece.head * a.sums_head + query] =
          (a.soft_cap - WarpgroupDot::kTopWeight + log2f(sum)) / WarpgroupDot::kLog2E;
    const float factor = 1.0f / sum;
    auto* const to = reinterpret_cast<std::uint32_t*>(
        static_cast<std::uint16_t*>(a.out.rows.data) + piece.b * a.out.batch +
        query * a.out.rows.stride + piece.head * a.out.head + 2 * (lane % 4));
#pragma unroll
    for (int j = 0; j < WarpgroupDot::kHeadV / 8; ++j) {
      const float* const x = rows.out + 4 * j + 2 * half;
      to[4 * j] = number16_pair<kType>(x[0] * factor, x[1] * factor);
    }
  }
}

template <Number16 kType>
__device__ __forceinline__ void attend_dot_items(const DotProductArgs& a, const DotOrder& order,
                                                 const DotShared& shared) {
  const int group = warpgroup_of_block() - 1;
  const int wave_row = wave_of_block() % (kWarpgroup / 32) * 16;
  const DotWeighing weighing(a);
  DotPipelineState turn;
  int parity = 0;
  for (int item = static_cast<int>(blockIdx.x); item < order.size();
       item += static_cast<int>(gridDim.x)) {
    const DotPiece piece = order.piece(item, group);
    const int row = piece.first + wave_row;
    const DotTileBias biases(a, piece, row);
    DotRows rows;
    barrier_wait(shared.queries_full(), parity);
    parity ^= 1;
    load_dot_queries(shared, group, wave_row, rows);
    wave_sync<32>();
    if (threadIdx.x % 32 == 0) barrier_arrive(shared.queries_empty());
    attend_piece<kType>(shared, a.n_keys / WarpgroupDot::kKeys, weighing, biases, turn, rows);
    store_dot_rows<kType>(a, piece, row, rows);
  }
}

template <Number16 kType>
__global__ BIOGPU_LAUNCH_BOUNDS(WarpgroupDot::kThreads, 1)  //
    void dot_product_warpgroup_kernel(const DotProductArgs a,
                                      const BIOGPU_GRID_CONSTANT DotMaps maps) {
  BIOGPU_DYNAMIC_SHARED(std::uint8_t, dynamic);
  const DotShared shared = {dynamic + (1024 - shared_address(dynamic) % 1024) % 1024};
  if (threadIdx.x == 0) shared.init_barriers();
  __syncthreads();
  const DotOrder order(a);
  if (threadIdx.x < kWarpgroup) {
    give_registers<24>();
    if (wave_of_block() == 0) copy_dot_items(a, maps, order, shared);
  } else {
    take_registers<240>();
    attend_dot_items<kType>(a, order, shared);
  }
}

}  // namespace biogpu::gpu::ops
