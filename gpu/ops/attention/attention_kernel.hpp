#pragma once

// The kernel of attention.hip and attention_split.hip, and which of its shapes is launched.

#include <algorithm>

#include "gpu/ops/attention/attention_tile.hpp"
#include "gpu/rt/kernel.hpp"

namespace biogpu::gpu::ops {

template <class Shape>
__global__ __launch_bounds__(Shape::kThreads) void attention_kernel(AttentionArgs a) {
  BIOGPU_DYNAMIC_SHARED(std::uint16_t, shared);
  constexpr int kPieces = kQueryRows / Shape::kRows;
  const int n_items = *a.n_tiles * a.n_heads * kPieces;
  for (int item = static_cast<int>(blockIdx.x); item < n_items;
       item += static_cast<int>(gridDim.x)) {
    QueryTile tile = a.tiles[item / (a.n_heads * kPieces)];
    tile.first += item / a.n_heads % kPieces * Shape::kRows;
    if (tile.first < tile.length) attention_tile<Shape>(a, tile, item % a.n_heads, shared);
  }
}

template <class Shape>
void launch_shape(const AttentionArgs& a, Stream& stream) {
  constexpr std::size_t kSharedBytes = sizeof(std::uint16_t) * Shape::kSharedElements;
  constexpr std::size_t kBlocksOfMultiprocessor =
      6;  // resident or soon to be: tiles differ in length
  stream.launch_shared(
      attention_kernel<Shape>,
      kBlocksOfMultiprocessor * static_cast<std::size_t>(stream.n_multiprocessors()),
      Shape::kThreads, kSharedBytes, a);
}

template <int kWave, Number16 kType, int kParts>
void launch_head(const AttentionArgs& a, Stream& stream) {
  constexpr int kRowTiles = kParts == 1 ? 2 : 1;
  const int head = std::max(a.head, a.head_v);
  if (head <= 16)
    return launch_shape<AttentionShape<kWave, kType, 16, kParts, kRowTiles>>(a, stream);
  if (head <= 32)
    return launch_shape<AttentionShape<kWave, kType, 32, kParts, kRowTiles>>(a, stream);
  if (head <= 64)
    return launch_shape<AttentionShape<kWave, kType, 64, kParts, kRowTiles>>(a, stream);
  if (head <= 128) return launch_shape<AttentionShape<kWave, kType, 128, kParts>>(a, stream);
  launch_shape<AttentionShape<kWave, kType, 192, kParts>>(a, stream);
}

}  // namespace biogpu::gpu::ops
