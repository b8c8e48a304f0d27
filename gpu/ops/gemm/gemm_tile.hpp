#pragma once

// What kernels of products on the matrix cores share: tiles of the result, how waves divide them,
// and the loop over slices of the summed index that pass through shared memory.

#include <type_traits>

#include "gpu/prim/async_copy.hpp"
#include "gpu/prim/matrix_tile.hpp"
#include "gpu/rt/kernel.hpp"

namespace biogpu::gpu::ops::gemm_tile {

// Where copies are asynchronous, deeper slices and more of them hide the latency; elsewhere shared
// memory is scarce (64 KB on AMD).
constexpr int kDepth = kHasAsyncCopies ? 64 : 32;
constexpr int kStages = kHasAsyncCopies ? 3 : 2;
constexpr int kPitch = kDepth + 8;  // 16 bytes more: reads of 8 rows meet no bank twice
constexpr int kGroupRows = 8;

// Matrix cores cut off what they add to a sum, always towards zero. Sums in parts add products of
// so many numbers of the summed index by themselves, and round where they add these, scaled by a
// power of two.
enum class SumParts { one, many };
constexpr int kPartDepth = 64;
static_assert(kPartDepth % kDepth == 0);

// A tile of out and how waves divide it: each has kRowTiles x kColumnTiles tiles of 16 x 16.
struct LargeTile {
  static constexpr int kWavesDown = 4, kWavesAcross = 2, kRowTiles = 2, kColumnTiles = 4;
};
struct SmallTile {
  static constexpr int kWavesDown = 4, kWavesAcross = 1, kRowTiles = 1, kColumnTiles = 4;
};
template <class Tile>
inline constexpr int kRows = 16 * Tile::kWavesDown* Tile::kRowTiles;
template <class Tile>
inline constexpr int kColumns = 16 * Tile::kWavesAcross* Tile::kColumnTiles;
template <class Tile>
inline constexpr int kWaves = Tile::kWavesDown* Tile::kWavesAcross;
template <class Tile>
inline constexpr int kSliceElements = (kRows<Tile> + kColumns<Tile>)*kPitch;
template <class Tile>
inline constexpr std::size_t kSharedBytes = sizeof(std::uint16_t) * kStages* kSliceElements<Tile>;

template <class Tile>
std::int64_t count_tiles(int m, int n) {
  return std::int64_t{ceil_div(m, kRows<Tile>)} * ceil_div(n, kColumns<Tile>);
}

// Columns of the large tile where that gives every multiprocessor at least one, else of the small
// one.
inline int columns_by_rule(int m, int n, const Stream& stream) {
  return count_tiles<LargeTile>(m, n) >= stream.n_multiprocessors() ? kColumns<LargeTile>
                                                                    : kColumns<SmallTile>;
}

// Calls run(LargeTile()) or run(SmallTile()), whichever has as many columns.
template <class Run>
void with_columns(int columns, const Run& run) {
  if (columns == kColumns<LargeTile>) {
    run(LargeTile());
  } else {
    run(SmallTile());
  }
}

// First row and column of a tile.
struct Place {
  int row, column;
};

// Tiles in groups of kGroupRows row tiles; inside a group down first.
template <class Tile>
__device__ __forceinline__ Place place_of(int m, int n, int block) {
  const int n_down = ceil_div(m, kRows<Tile>), n_across = ceil_div(n, kColumns<Tile>);
  const int group = block / (kGroupRows * n_across);
  const int first = group * kGroupRows;
  const int height = n_down - first < kGroupRows ? n_down - first : kGroupRows;
  const int in_group = block - group * kGroupRows * n_across;
  return {(first + in_group % height) * kRows<Tile>, in_group / height * kColumns<Tile>};
}

// This wave's part of a tile.
template <int kWave, class Tile>
__device__ __forceinline__ Place place_of_wave() {
  const int wave = static_cast<int>(threadIdx.x) / kWave;
  return {wave % Tile::kWavesDown * 16 * Tile::kRowTiles,
          wave / Tile::kWavesDown * 16 * Tile::kColumnTiles};
}

// Where slice s lies in shared memory: rows of a, and then rows of b.
template <class Tile>
__device__ __forceinline__ std::uint16_t* slice_of(std::uint16_t* shared, int s) {
  return shared + s % kStages * kSliceElements<Tile>;
}

// Columns [k, k + kDepth) of kCount rows to shared memory; zeros beyond the matrix.
template <int kCount, int kThreads>
__device__ __forceinline__ void copy_slice(const std::uint16_t* from, std::int64_t stride, int row,
                                           int n_rows, int k, int n_k, std::uint16_t* to) {
  constexpr int kPieces = kDepth / 8;
#pragma unroll
  for (int i = static_cast<int>(threadIdx.x); i < kCount * kPieces; i += kThreads) {
    const int r = i / kPieces, c = i % kPieces * 8;
    const bool valid = row + r < n_rows && k + c < n_k;
    const std::int64_t at = valid ? (row + r) * stride + k + c : 0;
    copy_async16(to + r * kPitch + c, from + at, valid);
  }
}

template <int kWave, class Tile>
using WaveSums = TileSum<kWave>[Tile::kRowTiles][Tile::kColumnTiles];

// Adds the products of a slice in shared memory to this wave's sums.
template <int kWave, Number16 kType, class Tile>
__device__ __forceinline__ void multiply_slice(WaveSums<kWave, Tile>& sum, Place wave,
                                               const std::uint16_t* slice) {
#pragma unroll
  for (int k = 0; k < kDepth; k += 16) {
    TileOperand<kWave> x[Tile::kRowTiles];
#pragma unroll
    for (int i = 0; i < Tile::kRowTiles; ++i) {
      x[i] = load_shared_a<kWave>(slice + (wave.row + 16 * i) * kPitch + k, kPitch);
    }
#pragma unroll
    for (int j = 0; j < Tile::kColumnTiles; ++j) {
      const TileOperand<kWave> y =
          load_shared_b<kWave>(slice + (kRows<Tile> + wave.column + 16 * j) * kPitch + k, kPitch);
#pragma unroll
      for (int i = 0; i < Tile::kRowTiles; ++i) {
        multiply_tile<kWave, kType>(sum[i][j], x[i], y);
      }
    }
  }
}

// Adds a part to the sums, scaled, and makes it zero.
template <int kWave, class Tile>
__device__ __forceinline__ void take_part(WaveSums<kWave, Tile>& sum, WaveSums<kWave, Tile>& part,
                                          float scale) {
#pragma unroll
  for (int i = 0; i < Tile::kRowTiles; ++i) {
#pragma unroll
    for (int j = 0; j < Tile::kColumnTiles; ++j) {
#pragma unroll
      for (int e = 0; e < TileSum<kWave>::kValues; ++e) {
        sum[i][j].value[e] += part[i][j].value[e] * scale;
        part[i][j].value[e] = 0;
      }
    }
  }
}

// Adds all slices of the summed index to this wave's sums, in order. copy(s): queues the copies of
// slice s, none where there is no such slice. scale: of sums in parts.
template <int kWave, Number16 kType, class Tile, SumParts kParts, class Copy>
__device__ __forceinline__ void multiply_slices(WaveSums<kWave, Tile>& sum, int n_k,
                                                [[maybe_unused]] float scale, std::uint16_t* shared,
                                                const Copy& copy) {
  const Place wave = place_of_wave<kWave, Tile>();
  const int n_slices = ceil_div(n_k, kDepth);
  [[maybe_unused]] WaveSums<kWave, Tile> part = {};
#pragma unroll
  for (int s = 0; s < kStages - 1; ++s) {
    copy(s);
    copy_async_commit();
  }
  for (int s = 0; s < n_slices; ++s) {
    copy_async_wait<kStages - 2>();
    __syncthreads();  // slice s has come, and slice s - 1 has been read by all
    copy(s + kStages - 1);
    copy_async_commit();
    const std::uint16_t* const mine = slice_of<Tile>(shared, s);
    if constexpr (kParts == SumParts::one) {
      multiply_slice<kWave, kType, Tile>(sum, wave, mine);
    } else {
      multiply_slice<kWave, kType, Tile>(part, wave, mine);
      constexpr int kSlices = kPartDepth / kDepth;  // of a part
      if ((s + 1) % kSlices == 0 || s + 1 == n_slices) take_part<kWave, Tile>(sum, part, scale);
    }
  }
}

// Calls run(parts) with a std::integral_constant.
template <class Run>
void with_parts(bool many, const Run& run) {
  if (many) {
    run(std::integral_constant<SumParts, SumParts::many>());
  } else {
    run(std::integral_constant<SumParts, SumParts::one>());
  }
}

}  // namespace biogpu::gpu::ops::gemm_tile
