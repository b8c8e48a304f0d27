#pragma once

// The two attentions of a layer of decode_steps.hip, for one head of the group's rows.

#include "gpu/models/molscribe/decoder_room.hpp"
#include "gpu/prim/fast_math.hpp"

namespace biogpu::gpu::molscribe {

inline constexpr int kAtOnce = 4;               // keys of a lane whose loads are under way together
inline constexpr int kStep = kWarps * kAtOnce;  // keys between two of a lane: 8 lanes have a key
inline constexpr float kNoScore = -1e30f;       // finite: differences of two stay numbers
inline constexpr float kScale = 0.17677669529663687f * 1.4426950408889634f;  // 32^-0.5 in log2

// Keys and values of a head: key j begins at keys + j * stride. The last of n is at `last`, where
// it is given: key, then value.
struct HeadKeys {
  const float *keys, *values;
  std::int64_t stride;
  int n;
  const float* last;
};

struct KeyParts {
  Float4 key[kAtOnce], value[kAtOnce];
};

__device__ __forceinline__ Float4 read4(const float* from, int i) {
  return reinterpret_cast<const Float4*>(from)[i];
}

// This lane's parts of keys `first`, first + kStep, ... below `end`; zeros for others.
__device__ __forceinline__ void load_keys(const HeadKeys& of, int first, int end, int sub,
                                          KeyParts& parts) {
#pragma unroll
  for (int u = 0; u < kAtOnce; ++u) {
    const int j = first + u * kStep;
    const bool here = j < end;
    parts.key[u] = here ? read4(of.keys + j * of.stride, sub) : Float4{};
    parts.value[u] = here ? read4(of.values + j * of.stride, sub) : Float4{};
  }
}

// One of kWarps slots of the keys: every kWarps-th four of them. ahead: what load_keys() gave of
// the first ones but the last, or nullptr.
template <int kWave>
__device__ __forceinline__ void attend_slot(const HeadKeys& of, const Float4& query, int slot,
                                            int lane, const KeyParts* ahead, float& top, float& sum,
                                            Float4& mixed) {
  const int sub = lane % 8, end = of.last == nullptr ? of.n : of.n - 1;
  top = kNoScore;
  sum = 0;
  mixed = Float4{};
  for (int base = 0; base < of.n; base += kAtOnce * kStep) {
    const int first = base + 4 * slot + lane / 8;
    KeyParts parts;
    if (ahead != nullptr && base == 0) {
      parts = *ahead;
    } else {
      load_keys(of, first, end, sub, parts);
    }
    float score[kAtOnce], most = top;
#pragma unroll
    for (int u = 0; u < kAtOnce; ++u) {
      const int j = first + u * kStep;
      if (of.last != nullptr && j == end) {
        parts.key[u] = read4(of.last, sub);
        parts.value[u] = read4(of.last + kHead, sub);
      }
      float part = add_product(0, query, parts.key[u]);
#pragma unroll
      for (int mask = 4; mask > 0; mask /= 2) part += wave_shuffle_xor<kWave>(part, mask, 32);
      score[u] = j < of.n ? part * kScale : kNoScore;
      most = fmaxf(most, score[u]);
    }
    const float before = fast_exp2(top - most);
    top = most;
#pragma unroll
    for (int e = 0; e < 4; ++e) mixed.value[e] *= before;
#pragma unroll
    for (int u = 0; u < kAtOnce; ++u) {
      const float weight = first + u * kStep < of.n ? fast_exp2(score[u] - top) : 0.0f;
      sum = u == 0 ? fmaf(sum, before, weight) : sum + weight;
#pragma unroll
      for (int e = 0; e < 4; ++e)
        mixed.value[e] = fmaf(weight, parts.value[u].value[e], mixed.value[e]);
    }
  }
  // The four keys that a warp has at a time.
#pragma unroll
  for (int mask = 8; mask < 32; mask *= 2) {
    const float its_top = wave_shuffle_xor<kWave>(top, mask, 32);
    const float its_sum = wave_shuffle_xor<kWave>(sum, mask, 32);
    const float most = fmaxf(top, its_top);
    const float mine = fast_exp2(top - most), its = fast_exp2(its_top - most);
    sum = fmaf(sum, mine, its_sum * its);
#pragma unroll
    for (int e = 0; e < 4; ++e)
      mixed.value[e] =
          fmaf(mixed.value[e], mine, wave_shuffle_xor<kWave>(mixed.value[e], mask, 32) * its);
    top = most;
  }
}

// keys_of(r): HeadKeys of row r. The queries lie in room.qkv; results by slots in room.mixed.
template <int kWave, class Block, class KeysOf>
__device__ __forceinline__ void attend_rows(const Block& b, const KeysOf& keys_of,
                                            const KeyParts* ahead) {
  constexpr int kWarpsOfRow = kWarps / Block::kRows;
  const int r = b.warp / kWarpsOfRow;
  const HeadKeys of = keys_of(r);
  const Float4 query = read4(b.room.qkv[r], b.lane % 8);
#pragma unroll
  for (int i = 0; i < Block::kRows; ++i) {
    const int slot = b.warp % kWarpsOfRow + i * kWarpsOfRow;
    float top, sum;
    Float4 mixed;
    attend_slot<kWave>(of, query, slot, b.lane, ahead, top, sum, mixed);
    if (b.lane < 8) reinterpret_cast<Float4*>(b.room.mixed[r][slot])[b.lane] = mixed;
    if (b.lane == 0) {
      b.room.top[r][slot] = top;
      b.room.sum[r][slot] = sum;
    }
  }
}

// Numbers 4 (lane % 8) .. of the head's result of row r.
template <int kWave, class Block>
__device__ __forceinline__ Float4 join_slots(const Block& b, int r) {
  static_assert(kWarps == 8, "a slot for each of eight lanes");
  const int i = b.lane % 8, group = b.lane / 8;
  const float top = b.room.top[r][i];
  float most = top;
#pragma unroll
  for (int mask = 4; mask > 0; mask /= 2)
    most = fmaxf(most, wave_shuffle_xor<kWave>(most, mask, 32));
  float weight = fast_exp2(top - most), sum = weight * b.room.sum[r][i];
#pragma unroll
  for (int mask = 4; mask > 0; mask /= 2) sum += wave_shuffle_xor<kWave>(sum, mask, 32);
  weight /= sum;
  const Float4 low = read4(b.room.mixed[r][2 * group], i),
               high = read4(b.room.mixed[r][2 * group + 1], i);
  const float low_weight = wave_shuffle<kWave>(weight, 2 * group, 32),
              high_weight = wave_shuffle<kWave>(weight, 2 * group + 1, 32);
  Float4 mixed;
#pragma unroll
  for (int e = 0; e < 4; ++e) {
    float value = fmaf(low_weight, low.value[e], high_weight * high.value[e]);
#pragma unroll
    for (int mask = 8; mask < 32; mask *= 2) value += wave_shuffle_xor<kWave>(value, mask, 32);
    mixed.value[e] = value;
  }
  return mixed;
}

// The output map over one head: kColumns of its outputs, eight lanes an output.
template <class Block>
struct OutWeights {
  static constexpr int kCount = 8 / Block::kShare;
  Float4 weight[kCount];
  float bias;

  __device__ __forceinline__ int column(const Block& b, int i) const {
    return b.share * Block::kColumns + (b.warp * 4 + b.lane / 8) * kCount + i;
  }
  // map: [kWidth, kWidth], then the bias, which is part of head 0.
  __device__ __forceinline__ void load(const Block& b, const float* map, int part) {
#pragma unroll
    for (int i = 0; i < kCount; ++i)
      weight[i] = load_no_allocate(
          reinterpret_cast<const Float4*>(map + column(b, i) * kWidth + part * kHead) + b.lane % 8);
    const int mine = sum_of_lane<4, kCount>(b.lane);
    bias = part == 0 && mine < kCount ? map[kWidth * kWidth + column(b, mine)] : 0.0f;
  }
  template <int kWave>
  __device__ __forceinline__ void post(const Block& b, Exchange kind, int parity, int part) const {
    const int mine = sum_of_lane<4, kCount>(b.lane);
#pragma unroll
    for (int r = 0; r < Block::kRows; ++r) {
      const Float4 mixed = join_slots<kWave>(b, r);
      float value[kCount];
#pragma unroll
      for (int i = 0; i < kCount; ++i) value[i] = add_product(0, mixed, weight[i]);
      const float sum = sum_lanes<kWave, 4>(value, b.lane) + bias;
      if (mine < kCount) b.post(b.place(kind, parity, part, r) + column(b, mine), sum);
    }
  }
};

// Maps of kWidth inputs: kCount outputs a warp.
template <int kCount>
struct RowWeights {
  RowPart weight[kCount];
  float bias;

  // row_of(i): the row of this warp's output i.
  template <class RowOf>
  __device__ __forceinline__ void load(const float* map, const float* biases, int lane,
                                       const RowOf& row_of) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) weight[i] = load_weights(map + row_of(i) * kWidth, lane);
    const int mine = sum_of_lane<16, kCount>(lane);
    bias = mine < kCount ? biases[row_of(mine)] : 0.0f;
  }
  // store(i, value), in one lane each.
  template <int kWave, class Store>
  __device__ __forceinline__ void multiply(const RowPart& y, int lane, const Store& store) const {
    float value[kCount];
#pragma unroll
    for (int i = 0; i < kCount; ++i) value[i] = product(weight[i], y);
    const float sum = sum_lanes<kWave, 16>(value, lane) + bias;
    const int mine = sum_of_lane<16, kCount>(lane);
    if (mine < kCount) store(mine, sum);
  }
};

// x += W_o attend(q, own keys and values), q k v of norm x.
template <int kWave, class Block>
__device__ __forceinline__ void self_attention(const Block& b, int layer, int parity) {
  constexpr int kRows = Block::kRows, kOfEach = kHead / kWarps, kCount = 3 * kOfEach;
  const float* const w = b.a.layers + layer * b.a.layer_size;
  const auto keys_of = [&](int r, int part) {
    const std::int64_t first = std::int64_t{b.row(r)} * b.a.capacity;
    const float* const keys = b.a.own + layer * b.a.own_layer + first * 2 * kWidth + part * kHead;
    return HeadKeys{keys, keys + kWidth, 2 * kWidth, b.room.length[r] + 1, b.room.qkv[r] + kHead};
  };
  const int last_part = b.alone ? kParts : b.part + 1;
  const NormPart norm = load_norm(w + kLayout.self_norm, w + kLayout.self_norm + kWidth, b.lane);
  RowWeights<kCount> qkv;
  OutWeights<Block> out;
  KeyParts ahead;
  const auto load = [&](int part) {
    if constexpr (kRows == 1) {
      const HeadKeys of = keys_of(0, part);
      load_keys(of, 4 * b.warp + b.lane / 8, of.n - 1, b.lane % 8, ahead);
    }
    qkv.load(w + kLayout.qkv, w + kLayout.qkv + 3 * kWidth * kWidth, b.lane, [&](int i) {
      return i / kOfEach * kWidth + part * kHead + b.warp * kOfEach + i % kOfEach;
    });
    out.load(b, w + kLayout.self_out, part);
  };
  load(b.part);
  if (layer > 0) {
    gather<kWave, Exchange::ffn>(b, parity ^ 1);
    clear_posted(b, Exchange::cross, parity ^ 1);
  }
  const RowPart mine = normalise_rows<kWave>(b, norm);
  for (int part = b.part;;) {
#pragma unroll
    for (int r = 0; r < kRows; ++r)
      qkv.template multiply<kWave>(normed_row(b, r, mine), b.lane, [&](int i, float value) {
        b.room.qkv[r][i / kOfEach * kHead + b.warp * kOfEach + i % kOfEach] = value;
      });
    __syncthreads();
    // Every block of a head writes the same numbers, and so finds them there.
    const int r = static_cast<int>(threadIdx.x) / (2 * kHead),
              i = static_cast<int>(threadIdx.x) % (2 * kHead);
    if (r < kRows && b.room.active[r] != 0) {
      const std::int64_t to = std::int64_t{b.row(r)} * b.a.capacity + b.room.length[r];
      b.a.own[layer * b.a.own_layer + to * 2 * kWidth + i / kHead * kWidth + part * kHead +
              i % kHead] = b.room.qkv[r][kHead + i];
    }
    attend_rows<kWave>(
        b, [&](int of_row) { return keys_of(of_row, part); }, kRows == 1 ? &ahead : nullptr);
    __syncthreads();
    out.template post<kWave>(b, Exchange::self, parity, part);
    if (++part >= last_part) break;
    __syncthreads();
    load(part);
  }
}

// The picture's keys and values of a layer to shared memory, while other things are done.
template <class Block>
__device__ __forceinline__ void stage_memory(const Block& b, int layer) {
  constexpr int kChunks = 2 * kHead / 4;  // of a key with its value
  if (b.alone) return;
#pragma unroll 1
  for (int r = 0; r < Block::kRows; ++r) {
    const float* const from = b.a.memory +
                              std::int64_t{b.row(r)} * b.a.n_memory * b.a.memory_stride +
                              layer * 2 * kWidth + b.part * kHead;
    float* const to = b.room.memory + r * b.a.n_memory * 2 * kHead;
    for (int i = static_cast<int>(threadIdx.x); i < b.a.n_memory * kChunks; i += kThreads) {
      const int j = i / kChunks, chunk = i % kChunks;
      copy_async16(
          to + 4 * i,
          from + j * b.a.memory_stride + chunk / (kChunks / 2) * kWidth + chunk % (kChunks / 2) * 4,
          true);
    }
  }
  copy_async_commit();
}

// x += W_o attend(q of norm x, the picture's keys and values).
template <int kWave, class Block>
__device__ __forceinline__ void cross_attention(const Block& b, int step, int layer, int parity) {
  constexpr int kRows = Block::kRows, kCount = kHead / kWarps;
  const float* const w = b.a.layers + layer * b.a.layer_size;
  const int last_part = b.alone ? kParts : b.part + 1;
  const NormPart norm = load_norm(w + kLayout.cross_norm, w + kLayout.cross_norm + kWidth, b.lane);
  RowWeights<kCount> q;
  OutWeights<Block> out;
  const auto load = [&](int part) {
    q.load(w + kLayout.q, w + kLayout.q + kWidth * kWidth, b.lane,
           [&](int i) { return part * kHead + b.warp * kCount + i; });
    out.load(b, w + kLayout.cross_out, part);
  };
  load(b.part);
  gather<kWave, Exchange::self>(b, parity);
  if (layer > 0) {
    clear_posted(b, Exchange::ffn, parity ^ 1);
  } else if (step > 0) {
    clear_logits(b, (step - 1) & 1);
  }
  const RowPart mine = normalise_rows<kWave>(b, norm);
  for (int part = b.part;;) {
#pragma unroll
    for (int r = 0; r < kRows; ++r)
      q.template multiply<kWave>(normed_row(b, r, mine), b.lane, [&](int i, float value) {
        b.room.qkv[r][b.warp * kCount + i] = value;
      });
    copy_async_wait<0>();
    __syncthreads();
    const auto keys_of = [&](int r) {
      const float* const staged = b.room.memory + r * b.a.n_memory * 2 * kHead;
      const float* const there = b.a.memory +
                                 std::int64_t{b.row(r)} * b.a.n_memory * b.a.memory_stride +
                                 layer * 2 * kWidth + part * kHead;
      return b.alone ? HeadKeys{there, there + kWidth, b.a.memory_stride, b.a.n_memory, nullptr}
                     : HeadKeys{staged, staged + kHead, 2 * kHead, b.a.n_memory, nullptr};
    };
    attend_rows<kWave>(b, keys_of, nullptr);
    __syncthreads();
    out.template post<kWave>(b, Exchange::cross, parity, part);
    if (++part >= last_part) break;
    __syncthreads();
    load(part);
  }
}

}  // namespace biogpu::gpu::molscribe
