#pragma once

// How a block of attention_tile.hpp is shaped, and what it copies into its shared memory.

#include "gpu/ops/attention/attention.hpp"
#include "gpu/ops/split_number16.hpp"
#include "gpu/prim/async_copy.hpp"
#include "gpu/prim/number16.hpp"

namespace biogpu::gpu::ops {

// Keys of a step: fewer where heads are wide.
constexpr int keys_of_step(int head, int n_parts) { return head * n_parts > 128 ? 32 : 64; }

// kParts: 1 where operands are 16-bit numbers, 2 where each is the sum of a high and a low one, see
// split_pair().
// kRowTiles: 16 queries each of one wave; with two, keys and values are read from shared memory
// half as often. kKeys: of a step.
template <int kWave_, Number16 kType_, int kHead_, int kParts_, int kRowTiles_ = 1,
          int kKeys_ = keys_of_step(kHead_, kParts_)>
struct AttentionShape {
  static constexpr int kWave = kWave_;
  static constexpr Number16 kType = kType_;
  static constexpr int kHead = kHead_;  // padded with zeros from the model's
  static constexpr int kParts = kParts_;
  static constexpr int kRowTiles = kRowTiles_;
  static constexpr int kWaves = 4;
  static constexpr int kRows = 16 * kWaves * kRowTiles;
  static constexpr int kThreads = kWave * kWaves;
  static constexpr int kKeys = kKeys_;
  static constexpr int kStages = kHasAsyncCopies && kParts == 1 ? 2 : 1;
  static constexpr int kPitch = kHead + 8;
  static constexpr int kKeyElements = kKeys * kPitch;
  static constexpr int kQueryElements = kRows * kPitch;
  // Queries pass through the room of the keys and values.
  static constexpr int kStepElements = 2 * kParts * kKeyElements;
  static constexpr int kSharedElements = kStages * kStepElements > kParts* kQueryElements
                                             ? kStages* kStepElements
                                             : kParts* kQueryElements;
};

// Rows [first, first + kCount) of one head of one sequence into shared memory, zeros beyond the
// sequence (first may be negative) and the head. A low part lies kLow elements behind the high one.
template <class Shape, int kCount, int kLow = kCount* Shape::kPitch>
__device__ __forceinline__ void copy_head(const Rows& from, std::int64_t row, int first, int length,
                                          std::int64_t column, int head, std::uint16_t* to) {
  constexpr int kPieces = Shape::kHead / 8;
  if constexpr (Shape::kParts == 1) {
    // A thread's pieces stand in one column: one multiplication gives the address of each.
    constexpr int kRowsAtOnce = Shape::kThreads / kPieces;
    const int thread = static_cast<int>(threadIdx.x), c = thread % kPieces * 8;
    if constexpr (Shape::kThreads % kPieces != 0) {
      if (thread >= kRowsAtOnce * kPieces) return;
    }
    const auto* const base = static_cast<const std::uint16_t*>(from.data) + row * from.stride +
                             (c < head ? column + c : 0);
    const int stride = static_cast<int>(from.stride);
#pragma unroll
    for (int r = thread / kPieces; r < kCount; r += kRowsAtOnce) {
      const bool valid =
          static_cast<unsigned>(first + r) < static_cast<unsigned>(length) && c < head;
      const int from_row = valid ? first + r : 0;
      copy_async16(to + r * Shape::kPitch + c, base + std::int64_t{from_row} * stride, valid);
    }
  } else {
    for (int i = static_cast<int>(threadIdx.x); i < kCount * kPieces; i += Shape::kThreads) {
      const int r = i / kPieces, c = i % kPieces * 8;
      const bool valid =
          static_cast<unsigned>(first + r) < static_cast<unsigned>(length) && c < head;
      const std::int64_t at = valid ? (row + first + r) * from.stride + column + c : 0;
      std::uint16_t* const place = to + r * Shape::kPitch + c;
      Bytes16 high = {}, low = {};
      if (valid) {
        const auto* const x = static_cast<const float*>(from.data) + at;
#pragma unroll
        for (int p = 0; p < 4; ++p) {
          const SplitPair split = split_pair<Shape::kType>(x[2 * p], x[2 * p + 1]);
          high.word[p] = split.high;
          low.word[p] = split.low;
        }
      }
      *reinterpret_cast<Bytes16*>(place) = high;
      *reinterpret_cast<Bytes16*>(place + kLow) = low;
    }
  }
}

// The keys and values of step `first_key` into the shared memory of its stage; key_head: the one
// that the tile's head uses. tile: of the keys.
template <class Shape, class Args>
__device__ __forceinline__ void copy_step(const Args& a, const QueryTile& tile, int key_head,
                                          int first_key, std::uint16_t* shared) {
  std::uint16_t* const to =
      shared + first_key / Shape::kKeys % Shape::kStages * Shape::kStepElements;
  if (first_key < tile.length) {
    copy_head<Shape, Shape::kKeys>(a.k, tile.begin, first_key, tile.length,
                                   key_head * a.key_head_stride, a.head, to);
    copy_head<Shape, Shape::kKeys>(a.v, tile.begin, first_key, tile.length,
                                   key_head * a.value_head_stride, a.head_v,
                                   to + Shape::kParts * Shape::kKeyElements);
  }
  copy_async_commit();
}

}  // namespace biogpu::gpu::ops
