// Attention of few queries over keys that are elsewhere: an encoder's rows, or a cache.
//
// Shapes   see lib/ops/attention/cross_attention.hpp.
// Mapping  a block of 4 waves takes one query of one head. A group of 1 to 16 lanes has a key at a
//          time, 8 numbers a lane, so that a wave of 32 reads 4 keys of 64 numbers at once; each
//          group keeps maximum, sum and mixed values of its keys, which meet by shuffles and then
//          in shared memory.
// Traffic  keys and values once a query: 4 n h bytes of 16-bit operands for n keys and a head, 4 n
// h
//          operations: bound by memory, or by latency for one short sequence. 480 keys of 8 heads
//          of 32 are 492 KB a query, 0.1 us at 4.8 TB/s.
// Result   products, softmax and sums in fp32; their order depends on the number of keys alone.
// Limits   head up to 128; other than multiples of 8 are padded.
// Source   Dao et al. 2023, Flash-Decoding (one block a query here); own.
// Oracle   cross_attention_ref, lib/ops/attention/cross_attention_ref.cpp.
#include "lib/ops/attention/cross_attention.hpp"

#include "gpu/ops/attention/head_limits.hpp"
#include "gpu/ops/device.hpp"
#include "gpu/ops/element_access.hpp"
#include "gpu/ops/gather/padded_heads.hpp"
#include "gpu/prim/fast_math.hpp"
#include "gpu/prim/wave.hpp"
#include "gpu/rt/kernel.hpp"

namespace biogpu::gpu::ops {
namespace {

constexpr int kCrossWaves = 4;
constexpr float kCrossLog2E = 1.4426950408889634f;
constexpr float kNoScore = -1e30f;  // finite: differences of two stay numbers

struct CrossAttentionArgs {
  Rows q, k, v, out;
  std::int64_t q_head, k_head, v_head;  // elements between heads
  int n_heads, heads_of_key, head;      // heads_of_key: query heads that share a key head
  float scale;                          // in units of log2
  const std::int32_t* starts;           // of the queries' segments, [n_segments + 1]
  int n_segments;
  const std::int32_t* key_starts;
  const std::int32_t* key_counts;
  bool causal;
};

// What a lane knows of the keys that its group has seen.
struct CrossState {
  float top, sum;
  float mixed[8];
};

__device__ __forceinline__ void add_state(CrossState& state, const CrossState& other) {
  const float top = fmaxf(state.top, other.top);
  const float mine = fast_exp2(state.top - top), its = fast_exp2(other.top - top);
  state.top = top;
  state.sum = state.sum * mine + other.sum * its;
#pragma unroll
  for (int e = 0; e < 8; ++e) state.mixed[e] = state.mixed[e] * mine + other.mixed[e] * its;
}

// The segment of a row: the last one that starts at or before it.
__device__ __forceinline__ int segment_of(const std::int32_t* starts, int n_segments,
                                          std::int64_t row) {
  int low = 0, high = n_segments;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (starts[middle] <= row) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

__device__ __forceinline__ Float8 load_part(const Rows& rows, std::int64_t row, std::int64_t column,
                                            bool valid) {
  return valid ? load_elements8(rows, row, static_cast<int>(column)) : Float8{};
}

// Keys [first, first + n) by groups of kGroup lanes.
template <int kWave, int kGroup>
__device__ __forceinline__ CrossState see_keys(const CrossAttentionArgs& a, std::int64_t row,
                                               int head, std::int64_t first, int n) {
  constexpr int kGroups = kCrossWaves * kWave / kGroup;
  const int lane = wave_lane<kWave>() % kGroup, key_head = head / a.heads_of_key;
  const bool valid = 8 * lane < a.head;
  const Float8 query = load_part(a.q, row, head * a.q_head + 8 * lane, valid);
  CrossState state{kNoScore, 0, {}};
  // Rounds are the same for all lanes of a wave, which add up products together.
  const int n_rounds = (n + kGroups - 1) / kGroups;
  for (int round = 0; round < n_rounds; ++round) {
    const int j = round * kGroups + static_cast<int>(threadIdx.x) / kGroup;
    const bool here = valid && j < n;
    const Float8 key = load_part(a.k, first + j, key_head * a.k_head + 8 * lane, here);
    const Float8 value = load_part(a.v, first + j, key_head * a.v_head + 8 * lane, here);
    float score = 0;
#pragma unroll
    for (int e = 0; e < 8; ++e) score += query.value[e] * key.value[e];
#pragma unroll
    for (int mask = 1; mask < kGroup; mask *= 2) score += wave_shuffle_xor<kWave>(score, mask);
    if (j >= n) continue;
    CrossState one{score * a.scale, 1, {}};
#pragma unroll
    for (int e = 0; e < 8; ++e) one.mixed[e] = value.value[e];
    add_state(state, one);
  }
  return state;
}

// Over the groups of a wave, each of which has the same numbers of a head in the same lane.
template <int kWave, int kGroup>
__device__ __forceinline__ void join_groups(CrossState& state) {
#pragma unroll
  for (int mask = kGroup; mask < kWave; mask *= 2) {
    CrossState other;
    other.top = wave_shuffle_xor<kWave>(state.top, mask);
    other.sum = wave_shuffle_xor<kWave>(state.sum, mask);
#pragma unroll
    for (int e = 0; e < 8; ++e) other.mixed[e] = wave_shuffle_xor<kWave>(state.mixed[e], mask);
    add_state(state, other);
  }
}

template <int kWave, int kGroup>
__global__ __launch_bounds__(kCrossWaves* kWave) void cross_attention_kernel(CrossAttentionArgs a) {
  __shared__ CrossState waves[kCrossWaves][kGroup];
  const std::int64_t row = blockIdx.x / static_cast<unsigned>(a.n_heads);
  const int head = static_cast<int>(blockIdx.x % static_cast<unsigned>(a.n_heads));
  if (row >= a.starts[a.n_segments]) return;  // of no segment
  const int segment = segment_of(a.starts, a.n_segments, row);
  const std::int64_t first = a.key_starts[segment];
  int n = a.key_counts != nullptr ? a.key_counts[segment]
                                  : a.key_starts[segment + 1] - static_cast<int>(first);
  if (a.causal) n -= a.starts[segment + 1] - 1 - static_cast<int>(row);
  CrossState state = see_keys<kWave, kGroup>(a, row, head, first, n);
  join_groups<kWave, kGroup>(state);
  const int lane = wave_lane<kWave>();
  if (lane < kGroup) waves[threadIdx.x / kWave][lane] = state;
  __syncthreads();
  if (threadIdx.x >= kGroup || 8 * lane >= a.head) return;
#pragma unroll
  for (int w = 1; w < kCrossWaves; ++w) add_state(state, waves[w][lane]);
  Float8 mixed;
#pragma unroll
  for (int e = 0; e < 8; ++e) mixed.value[e] = n > 0 ? state.mixed[e] / state.sum : 0.0f;
  store_elements8(a.out, row, head * a.head + 8 * lane, mixed);
}

template <int kWave>
void launch_cross_attention(const CrossAttentionArgs& a, std::int64_t n_rows, Stream& stream) {
  const auto kernel = a.head <= 16   ? cross_attention_kernel<kWave, 2>
                      : a.head <= 32 ? cross_attention_kernel<kWave, 4>
                      : a.head <= 64 ? cross_attention_kernel<kWave, 8>
                                     : cross_attention_kernel<kWave, 16>;
  stream.launch(kernel, static_cast<std::size_t>(n_rows * a.n_heads), kCrossWaves * kWave, a);
}

}  // namespace

void cross_attention(Device& device, const biogpu::ops::CrossAttention& op) {
  const std::int64_t n_rows = op.q.shape[0];
  require_heads("cross_attention", {op.q.shape[2]}, 128);
  if (n_rows == 0 || op.queries->n_segments == 0) return;
  if (run_with_padded_heads(device, op, cross_attention)) return;
  CrossAttentionArgs args{};
  args.q = rows_of(op.q);
  args.k = rows_of(op.k);
  args.v = rows_of(op.v);
  args.out = rows_of(op.out);
  args.q_head = op.q.stride[1];
  args.k_head = op.k.stride[1];
  args.v_head = op.v.stride[1];
  args.n_heads = static_cast<int>(op.q.shape[1]);
  args.heads_of_key = static_cast<int>(op.q.shape[1] / op.k.shape[1]);
  args.head = static_cast<int>(op.q.shape[2]);
  args.scale = op.scale * kCrossLog2E;
  args.starts = op.queries->device_starts.as<std::int32_t>();
  args.n_segments = static_cast<int>(op.queries->n_segments);
  args.key_starts = op.key_starts.as<std::int32_t>();
  args.key_counts = op.key_counts.as<std::int32_t>();
  args.causal = op.causal;
  Stream& stream = device.stream();
  if (stream.wave_width() == 64) return launch_cross_attention<64>(args, n_rows, stream);
  launch_cross_attention<32>(args, n_rows, stream);
}

}  // namespace biogpu::gpu::ops
