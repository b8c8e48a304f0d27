#pragma once

// fp32 operands of a product as sums of two fp16 numbers. The numbers of a row in a slice are
// scaled by a power of two, so that the largest of them is close to fp16's largest: no number is
// out of range, and low parts keep their digits. Products of a slice are summed by themselves and
// added with the scales of their row and column.

#include "gpu/ops/gemm/matmul_args.hpp"
#include "gpu/prim/number16.hpp"

namespace biogpu::gpu::ops {

inline constexpr int kSplitDepth = 32;
inline constexpr int kSplitPitch = kSplitDepth + 8;

// Shared memory of a block: lines are rows of a, and then columns of b.
template <class Tile>
struct alignas(16) SplitSlice {
  static constexpr int kLines = gemm_tile::kRows<Tile> + gemm_tile::kColumns<Tile>;
  std::uint16_t high[kLines * kSplitPitch];
  std::uint16_t low[kLines * kSplitPitch];
  std::uint32_t largest[2][kLines];  // magnitudes as bits, found by up to two groups of threads
  float unscale[kLines];
};

struct SplitScale {
  float scale, unscale;
};
// Powers of two, so that numbers up to the largest are below 2^15 when scaled. Where there is an
// infinite number, or one that is none, the results of its line are none.
__device__ __forceinline__ SplitScale split_scale_of(std::uint32_t largest) {
  constexpr std::uint32_t kInfinite = 0x7f800000u, kMost = 253;
  if (largest >= kInfinite) return {0, __builtin_bit_cast(float, kInfinite | 0x400000u)};
  std::uint32_t exponent = 127 + 127 + 14 - (largest >> 23);
  exponent = exponent > kMost ? kMost : exponent;
  return {__builtin_bit_cast(float, exponent << 23),
          __builtin_bit_cast(float, (254 - exponent) << 23)};
}

// The part of a slice of one operand, kCount lines, that a thread loads and splits.
template <Along kAlong, int kCount, int kThreads>
class SplitShare {
  // Along k, 8 threads for a line, each with 4 neighbours; along lines, one thread for a line, or
  // two for its halves.
  static constexpr bool kByLine = kAlong == Along::k;
  static constexpr int kThreadsOfLine = kByLine ? 8 : kThreads >= 2 * kCount ? 2 : 1;
  static constexpr int kNumbers = kSplitDepth / kThreadsOfLine;
  static constexpr int kLinesAtOnce = kByLine ? kThreads / kThreadsOfLine : kCount;
  static constexpr int kLinesHeld = kCount / kLinesAtOnce;
  static_assert(kCount % kLinesAtOnce == 0 && kLinesAtOnce * (kByLine ? 1 : 2) <= kThreads);

 public:
  // Numbers from k on of lines from `first` on; zeros beyond the operand.
  __device__ __forceinline__ void load(const OperandRows<float>& from, int first, int k) {
    if (!takes_part()) return;
    k += part() * kNumbers;
#pragma unroll
    for (int i = 0; i < kLinesHeld; ++i) {
      const int row = first + line(i);
      const bool valid = row < from.n_rows;
      const float* const numbers = from.data + (valid ? row * from.row_stride : 0);
      if (kByLine && from.in_16_bytes && valid && k + kNumbers <= from.n_k) {
#pragma unroll
        for (int v = 0; v < kNumbers; v += 4) {
          const Float4 read = *reinterpret_cast<const Float4*>(numbers + k + v);
#pragma unroll
          for (int j = 0; j < 4; ++j) value_[i][v + j] = read.value[j];
        }
      } else {
#pragma unroll
        for (int v = 0; v < kNumbers; ++v) {
          value_[i][v] = valid && k + v < from.n_k ? numbers[(k + v) * from.k_stride] : 0.0f;
        }
      }
    }
  }

  // The largest magnitude of each line, or of its half; all lanes take part. begin: the operand's
  // first line in the slice.
  template <int kWave, class Slice>
  __device__ __forceinline__ void find_largest(Slice& slice, int begin) const {
#pragma unroll
    for (int i = 0; i < kLinesHeld; ++i) {
      std::uint32_t largest = 0;
#pragma unroll
      for (int v = 0; v < kNumbers; ++v) {
        // A copy: nvcc ends with an internal error where an element is cast in place.
        const float number = value_[i][v];
        const std::uint32_t size = __builtin_bit_cast(std::uint32_t, number) & 0x7fffffffu;
        largest = size > largest ? size : largest;
      }
      if constexpr (kByLine) {
#pragma unroll
        for (int step = 1; step < kThreadsOfLine; step *= 2) {
          const std::uint32_t other = wave_shuffle_xor<kWave>(largest, step);
          largest = other > largest ? other : largest;
        }
      }
      if (!takes_part()) continue;
      const int at = begin + line(i);
      if (kByLine || part() == 0) slice.largest[0][at] = largest;
      if (kByLine || part() == 1 || kThreadsOfLine == 1) slice.largest[1][at] = largest;
    }
  }

  // After a barrier: the numbers as two, and what scales their products back.
  template <class Slice>
  __device__ __forceinline__ void split(Slice& slice, int begin) const {
    if (!takes_part()) return;
#pragma unroll
    for (int i = 0; i < kLinesHeld; ++i) {
      const int at = begin + line(i);
      const std::uint32_t one = slice.largest[0][at], other = slice.largest[1][at];
      const SplitScale scale = split_scale_of(one > other ? one : other);
      if (part() == 0) slice.unscale[at] = scale.unscale;
      std::uint16_t* const high = slice.high + at * kSplitPitch + part() * kNumbers;
      std::uint16_t* const low = slice.low + at * kSplitPitch + part() * kNumbers;
#pragma unroll
      for (int v = 0; v < kNumbers; v += 4) {
        Words2 to_high, to_low;
#pragma unroll
        for (int w = 0; w < 2; ++w) {
          const float x = value_[i][v + 2 * w] * scale.scale;
          const float y = value_[i][v + 2 * w + 1] * scale.scale;
          const std::uint32_t word = number16_pair<Number16::fp16, false>(x, y);
          to_high.word[w] = word;
          to_low.word[w] =
              number16_pair<Number16::fp16, false>(x - number16_of_pair<Number16::fp16>(word, 0),
                                                   y - number16_of_pair<Number16::fp16>(word, 1));
        }
        *reinterpret_cast<Words2*>(high + v) = to_high;
        *reinterpret_cast<Words2*>(low + v) = to_low;
      }
    }
  }

 private:
  static __device__ __forceinline__ int line(int i) {
    const int thread = static_cast<int>(threadIdx.x);
    return (kByLine ? thread / kThreadsOfLine : thread % kLinesAtOnce) + i * kLinesAtOnce;
  }
  static __device__ __forceinline__ int part() {
    const int thread = static_cast<int>(threadIdx.x);
    return kByLine ? thread % kThreadsOfLine : thread / kLinesAtOnce;
  }
  static __device__ __forceinline__ bool takes_part() { return part() < kThreadsOfLine; }

  float value_[kLinesHeld][kNumbers] = {};
};

// Adds the products of a slice to this wave's sums.
template <int kWave, class Tile>
__device__ __forceinline__ void multiply_split(gemm_tile::WaveSums<kWave, Tile>& sum,
                                               gemm_tile::Place wave,
                                               const SplitSlice<Tile>& slice) {
  constexpr Number16 kType = Number16::fp16;
  const int columns = gemm_tile::kRows<Tile> + wave.column;  // the first line of b
  gemm_tile::WaveSums<kWave, Tile> part = {};
#pragma unroll
  for (int k = 0; k < kSplitDepth; k += 16) {
    TileOperand<kWave> high[Tile::kRowTiles], low[Tile::kRowTiles];
#pragma unroll
    for (int i = 0; i < Tile::kRowTiles; ++i) {
      const int at = (wave.row + 16 * i) * kSplitPitch + k;
      high[i] = load_shared_a<kWave>(slice.high + at, kSplitPitch);
      low[i] = load_shared_a<kWave>(slice.low + at, kSplitPitch);
    }
#pragma unroll
    for (int j = 0; j < Tile::kColumnTiles; ++j) {
      const int at = (columns + 16 * j) * kSplitPitch + k;
      const TileOperand<kWave> y = load_shared_b<kWave>(slice.high + at, kSplitPitch);
      const TileOperand<kWave> y_low = load_shared_b<kWave>(slice.low + at, kSplitPitch);
#pragma unroll
      for (int i = 0; i < Tile::kRowTiles; ++i) {
        multiply_tile<kWave, kType>(part[i][j], high[i], y_low);
        multiply_tile<kWave, kType>(part[i][j], low[i], y);
        multiply_tile<kWave, kType>(part[i][j], high[i], y);
      }
    }
  }
#pragma unroll
  for (int i = 0; i < Tile::kRowTiles; ++i) {
#pragma unroll
    for (int j = 0; j < Tile::kColumnTiles; ++j) {
#pragma unroll
      for (int e = 0; e < TileSum<kWave>::kValues; ++e) {
        const float row = slice.unscale[wave.row + 16 * i + tile_row<kWave>(e)];
        const float column = slice.unscale[columns + 16 * j + tile_column<kWave>(e)];
        sum[i][j].value[e] += part[i][j].value[e] * row * column;
      }
    }
  }
}

}  // namespace biogpu::gpu::ops
