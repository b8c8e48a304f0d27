#pragma once

// What the phases of decode_steps.hip share: the arguments, a block's place in its group, its
// shared memory, and the exchange between the blocks of a group.

#include <cstdint>

#include "gpu/models/molscribe/lane_sums.hpp"
#include "gpu/prim/async_copy.hpp"
#include "gpu/prim/block_group.hpp"
#include "gpu/prim/cache_hints.hpp"
#include "lib/models/molscribe/ops/decode_steps.hpp"

namespace biogpu::gpu::molscribe {

inline constexpr int kWidth = 256, kHead = 32, kParts = 8;  // parts: heads, or an eighth of the
                                                            // hidden units
inline constexpr int kThreads = 256, kWarps = 8;            // warps of 32 for waves of any width
inline constexpr int kSlice = 32, kSlices = 4;              // hidden units; slices of a part
inline constexpr int kMaxTokens = 256;
inline constexpr models::molscribe::DecoderLayout kLayout =
    models::molscribe::decoder_layout(kWidth);

struct DecodeArgs {
  const float* layers;
  std::int64_t layer_size;
  int n_layers;
  float eps;
  const float *table, *last_weight, *last_bias, *head, *head_bias;
  int n_tokens, n_symbols, n_bins, stop;
  float* own;
  std::int64_t own_layer;  // numbers between layers
  int capacity;
  const float* memory;
  std::int64_t memory_stride;
  int n_memory;
  std::int32_t *tokens, *lengths, *n_keys, *history;
  float *log_probabilities, *margins, *states;
  std::uint32_t* exchange;
  int first_row, n_rows, n_steps;
};

template <int kRows>
struct DecoderRoom {
  float x[kRows][kWidth], y[kRows][kWidth];
  float logits[kRows][kMaxTokens];
  float qkv[kRows][3 * kHead];
  float mixed[kRows][kWarps][kHead];
  float top[kRows][kWarps], sum[kRows][kWarps];
  float hidden[kRows][kSlices * kSlice];
  int token[kRows], length[kRows], active[kRows];
  alignas(16) float memory[1];  // [kRows][n_memory][key, value][kHead], where blocks share
};

template <int kRows>
constexpr std::size_t room_bytes(int n_memory) {
  return sizeof(DecoderRoom<kRows>) +
         sizeof(float) * static_cast<std::size_t>(kRows * n_memory * 2 * kHead);
}

// Parts that blocks post in one exchange, and words of all exchanges of a group. Exchanges of a
// layer lie behind each other; those of the next layer have a place of their own.
enum class Exchange { self, cross, ffn };
template <int kShare>
inline constexpr int kPosted = kParts*(2 + kShare);
template <int kRows, int kShare>
inline constexpr int kExchangeWords = 2 * (kPosted<kShare> * kWidth + kMaxTokens) * kRows;

// A block: which part of each layer it has, and which share of it. `alone` has all parts.
template <int kWave, int kRowsOf, int kShareOf>
struct DecoderBlock {
  static constexpr int kRows = kRowsOf, kShare = kShareOf;
  static constexpr int kColumns = kWidth / kShare;  // of a map's outputs

  const DecodeArgs& a;
  DecoderRoom<kRows>& room;
  std::uint32_t* exchange;
  int lane, warp;
  int part, share;
  bool alone;
  int first_row;

  __device__ __forceinline__ int row(int r) const {
    return first_row + r < a.n_rows ? first_row + r : a.n_rows - 1;
  }
  __device__ __forceinline__ std::uint32_t* place(Exchange kind, int parity, int posted,
                                                  int r) const {
    const int before = kind == Exchange::self ? 0 : kind == Exchange::cross ? kParts : 2 * kParts;
    return exchange +
           ((parity * kPosted<kShare> + before + posted) * kRows + r) * std::int64_t{kWidth};
  }
  __device__ __forceinline__ std::uint32_t* logits_place(int parity, int r) const {
    return exchange + (2 * kPosted<kShare> * kRows + parity * kRows + r) * std::int64_t{kWidth};
  }
  __device__ __forceinline__ void post(std::uint32_t* to, float value) const {
    std::uint32_t word[1] = {__builtin_bit_cast(std::uint32_t, value)};
    if (alone) {
      *to = word[0];
    } else {
      post_words<1>(to, word);
    }
  }
};

// A line of an exchange once all of it is there.
template <int kWave, int kCount>
__device__ __forceinline__ void await_words(const std::uint32_t* const (&from)[kCount], bool alone,
                                            bool reads, std::uint32_t (&word)[kCount][4]) {
  for (unsigned tries = 0;; bound_reads(tries)) {
    bool there = true;
    if (reads) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) read_words<4>(from[i], word[i]);
#pragma unroll
      for (int i = 0; i < kCount; ++i) there = there && are_there<4>(word[i]);
    }
    if (alone || wave_all<kWave>(there)) return;
  }
}

// Adds what all blocks posted to x. The order of the sum is that of the parts' numbers, in pairs,
// and slices of a part in pairs before, whoever posted them.
template <int kWave, Exchange kKind, class Block>
__device__ __forceinline__ void gather(const Block& b, int parity) {
  constexpr int kRows = Block::kRows, kOfPart = kKind == Exchange::ffn ? Block::kShare : 1;
  const int part = b.lane % kParts, quad = static_cast<int>(threadIdx.x) / kParts;
  constexpr int kReads = kRows * 2 * kOfPart;
  const std::uint32_t* from[kReads];
#pragma unroll
  for (int i = 0; i < kReads; ++i)
    from[i] = b.place(kKind, parity, part * kOfPart + i % kOfPart, i / (2 * kOfPart)) +
              4 * (quad + i / kOfPart % 2 * (kThreads / kParts));
  std::uint32_t word[kReads][4];
  if (b.alone) __syncthreads();
  await_words<kWave>(from, b.alone, true, word);
  const int mine = sum_of_lane<4, 8>(b.lane);
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    float value[8];
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const auto at = [&](int s) {
        return __builtin_bit_cast(float, word[(2 * r + i / 4) * kOfPart + s][i % 4]);
      };
      if constexpr (kOfPart == 1) value[i] = at(0);
      if constexpr (kOfPart == 2) value[i] = at(0) + at(1);
      if constexpr (kOfPart == 4) value[i] = (at(0) + at(1)) + (at(2) + at(3));
    }
    const float sum = sum_lanes<kWave, 4>(value, b.lane);
    b.room.x[r][4 * (quad + mine / 4 * (kThreads / kParts)) + mine % 4] += sum;
  }
  __syncthreads();
}

// Makes what this block posted absent again. Only after all of the next exchange has been read:
// then every block has read this one.
template <class Block>
__device__ __forceinline__ void clear_posted(const Block& b, Exchange kind, int parity) {
  if (b.alone) return;
  const int thread = static_cast<int>(threadIdx.x);
#pragma unroll
  for (int r = 0; r < Block::kRows; ++r) {
    if (kind == Exchange::ffn) {
      b.place(kind, parity, b.part * Block::kShare + b.share, r)[thread] = kAbsentWord;
    } else if (thread < Block::kColumns) {
      b.place(kind, parity, b.part, r)[b.share * Block::kColumns + thread] = kAbsentWord;
    }
  }
}

template <class Block>
__device__ __forceinline__ void clear_logits(const Block& b, int parity) {
  constexpr int kOwn = kMaxTokens / (kParts * Block::kShare);
  const int thread = static_cast<int>(threadIdx.x);
  if (b.alone || thread >= kOwn) return;
#pragma unroll
  for (int r = 0; r < Block::kRows; ++r)
    b.logits_place(parity, r)[(b.part * Block::kShare + b.share) * kOwn + thread] = kAbsentWord;
}

// A lane's columns of a row of kWidth numbers: 4 lane .. and kWidth / 2 + 4 lane ...
struct RowPart {
  Float4 half[2];
};
__device__ __forceinline__ RowPart load_weights(const float* row, int lane) {
  return {load_no_allocate(reinterpret_cast<const Float4*>(row) + lane),
          load_no_allocate(reinterpret_cast<const Float4*>(row + kWidth / 2) + lane)};
}
__device__ __forceinline__ RowPart load_part(const float* row, int lane) {
  return {reinterpret_cast<const Float4*>(row)[lane],
          reinterpret_cast<const Float4*>(row + kWidth / 2)[lane]};
}
__device__ __forceinline__ float product(const RowPart& a, const RowPart& b) {
  return add_product(add_product(0, a.half[0], b.half[0]), a.half[1], b.half[1]);
}

struct NormPart {
  RowPart weight, bias;
};
__device__ __forceinline__ NormPart load_norm(const float* weight, const float* bias, int lane) {
  return {load_weights(weight, lane), load_weights(bias, lane)};
}

template <int kWave>
__device__ __forceinline__ float sum_of_all(float x) {
#pragma unroll
  for (int mask = 16; mask > 0; mask /= 2) x += wave_shuffle_xor<kWave>(x, mask, 32);
  return x;
}

template <int kWave>
__device__ __forceinline__ RowPart normalise(const RowPart& x, const NormPart& norm, float eps) {
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i) sum += x.half[i / 4].value[i % 4];
  const float mean = sum_of_all<kWave>(sum) / kWidth;
  float squares = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const float off = x.half[i / 4].value[i % 4] - mean;
    squares = fmaf(off, off, squares);
  }
  const float scale = 1.0f / sqrtf(sum_of_all<kWave>(squares) / kWidth + eps);
  RowPart y;
#pragma unroll
  for (int i = 0; i < 8; ++i)
    y.half[i / 4].value[i % 4] =
        fmaf((x.half[i / 4].value[i % 4] - mean) * scale, norm.weight.half[i / 4].value[i % 4],
             norm.bias.half[i / 4].value[i % 4]);
  return y;
}

// x of all rows, normalised: for one row in every warp's registers, for more in shared memory. The
// result is that of this warp's own row, warp % kRows.
template <int kWave, class Block>
__device__ __forceinline__ RowPart normalise_rows(const Block& b, const NormPart& norm) {
  constexpr int kRows = Block::kRows;
  const int mine = b.warp % kRows;
  const RowPart y = normalise<kWave>(load_part(b.room.x[mine], b.lane), norm, b.a.eps);
  if constexpr (kRows > 1) {
    if (b.warp < kRows) {
      reinterpret_cast<Float4*>(b.room.y[mine])[b.lane] = y.half[0];
      reinterpret_cast<Float4*>(b.room.y[mine] + kWidth / 2)[b.lane] = y.half[1];
    }
    __syncthreads();
  }
  return y;
}
template <class Block>
__device__ __forceinline__ RowPart normed_row(const Block& b, int r, const RowPart& mine) {
  if constexpr (Block::kRows == 1) return mine;
  return load_part(b.room.y[r], b.lane);
}

}  // namespace biogpu::gpu::molscribe
