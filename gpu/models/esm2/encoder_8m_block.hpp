#pragma once

// What the steps of encoder_8m.hip share: a block's view of the launch, statistics of rows.

#include <type_traits>

#include "gpu/models/esm2/encoder_8m_shape.hpp"
#include "gpu/ops/attention/attention_tile.hpp"
#include "gpu/prim/block_group.hpp"
#include "gpu/prim/bulk_copy.hpp"

namespace biogpu::gpu::esm2 {

// One tile of 16 x 16 operands as its lanes hold it.
template <int kWave>
struct alignas(4 * TileOperand<kWave>::kWords) Piece {
  TileOperand<kWave> tile;
};

template <int kWave>
using PieceBytes = std::conditional_t<sizeof(Piece<kWave>) == 16, Bytes16, Bytes8>;

// A shape whose numbers but n_layers are known when the kernel is compiled, or one that is not.
template <int kHeadTiles_>
struct AnyShape {
  static constexpr int kHeadTiles = kHeadTiles_;
  template <EncoderStep>
  static constexpr int kBatches = 0;  // not known
  __device__ static Encoder8mShape of(const Encoder8mShape& shape) { return shape; }
};
template <int kD, int kHeads, int kFeed>
struct KnownShape {
  static constexpr int kHeadTiles = (kD / kHeads + 15) / 16;
  static constexpr EncoderPart kPart{{kD, kHeads, kD / kHeads, kFeed, 0}};
  // Of a wave's share of a step.
  template <EncoderStep kStep>
  static constexpr int kBatches = kStep == EncoderStep::projection ? kPart.batches(kStep)
                                                                   : kPart.turn(kStep, 0).n_batches;
  static constexpr int kPairs = kD / 16 / 2;  // of `down`
  static_assert(kBatches<EncoderStep::projection> == 1 &&
                2 * kBatches<EncoderStep::qkv> == kPlaced &&
                2 * kBatches<EncoderStep::up> == kPlaced && kD % (32 * kBatch) == 0 &&
                2 * kBatches<EncoderStep::down> > kPlaced &&
                2 * kBatches<EncoderStep::down> * kPairs <= kPlaced * kEncoderWaves);
  static_assert(kPart.qkv_units() <= kEncoderWaves - 2 &&
                kPart.hidden_tiles() <= kEncoderWaves - 2 &&
                kPairs <= kPart.hidden_tiles() / 2 * 2 &&
                kPairs + kPart.own_most() < kEncoderWaves &&
                kPart.n_heads() * kKeyParts <= kEncoderWaves);
  static constexpr bool matches(const Encoder8mShape& s) {
    return s.d == kD && s.n_heads == kHeads && s.head == kD / kHeads && s.d_ffn == kFeed;
  }
  __device__ static Encoder8mShape of(const Encoder8mShape& shape) {
    return {kD, kHeads, kD / kHeads, kFeed, shape.n_layers};
  }
};

// What a wave has to do, found once: from the shape and the rank it would take as many instructions
// at each use as what is done with it. The same in all lanes, which the compiler learns from
// shuffles.
struct EncoderRole {
  int n_heads;          // of the block
  int head, key_part;   // of attention: the head's number among the block's; see attends()
  std::uint32_t steps;  // bit s: multiplies in step s

  template <int kWave>
  __device__ __forceinline__ static EncoderRole of(const EncoderPart& part) {
    EncoderRole role{};
    role.n_heads = part.n_heads();
    role.key_part = role.n_heads > 0 ? part.wave / role.n_heads : kKeyParts;
    role.head = part.wave - role.key_part * role.n_heads;
    for (const EncoderStep s :
         {EncoderStep::qkv, EncoderStep::projection, EncoderStep::up, EncoderStep::down})
      role.steps |= part.turn(s, 0).active ? 1u << static_cast<int>(s) : 0u;
    const auto same = [](auto number) { return wave_shuffle<kWave>(number, 0); };
    return {same(role.n_heads), same(role.head), same(role.key_part), same(role.steps)};
  }
  __device__ __forceinline__ bool attends() const { return key_part < kKeyParts; }
  __device__ __forceinline__ bool multiplies(EncoderStep step) const {
    return (steps >> static_cast<int>(step) & 1u) != 0;
  }
};

// kGrouped: steps are those of one launch, or else a launch each.
template <int kWave_, Number16 kType_, class Known_, bool kGrouped_>
struct Encoder8mBlock {
  using Known = Known_;
  static constexpr bool kGrouped = kGrouped_;
  static constexpr int kWave = kWave_;
  static constexpr Number16 kType = kType_;
  static constexpr int kRowTiles = 1;  // of 16 tokens: with two, steps take twice as long
  static constexpr int kRows = 16 * kRowTiles;
  static constexpr int kHeadTiles = Known::kHeadTiles;
  static constexpr int kThreads = kWave * kEncoderWaves;
  static constexpr int kTileNumbers = kTileBytes / 2;
  static constexpr int kLaneNumbers = kTileNumbers / kWave;
  static constexpr int kTileWords = kTileBytes / 4;
  static constexpr int kLaneWords = kTileWords / kWave;

  // attention_tile.hpp's shape.
  static constexpr int kParts = 1;
  static constexpr int kHead = 16 * kHeadTiles;
  static constexpr int kKeys = 16 * kKeyTiles;

  const Encoder8mArgs& a;
  EncoderPart part;
  EncoderRole role;
  GroupRooms<kGrouped> rooms;
  int lane;
  std::int64_t token;  // the group's first
  int n_rows;          // of the group's that exist
  int position;        // of the first, in its sequence
  int length;          // of the sequence
  int first_tile;      // of 16 tokens, of the sequence among all of the launch
  // In the block's room.
  float* x;
  std::uint16_t *y, *mixed, *q;
  float *stats, *norms, *sums, *halves, *angles;
  Arrival* arrivals;    // kArrivals
  std::uint32_t* keys;  // of this launch, in device memory

  // Where this lane's numbers of a tile of operands lie.
  __device__ __forceinline__ std::uint16_t* at(std::uint16_t* tiles, int tile, int row_tile) const {
    return tiles + (tile * kRowTiles + row_tile) * kTileNumbers + lane * kLaneNumbers;
  }
  __device__ __forceinline__ const float* vector(int layer, EncoderStep step, int unit) const {
    const EncoderPart& p = part;
    const int slot = (layer * kGroup + p.rank) * p.vectors_of_layer() + p.vector_of(step, unit);
    return a.vectors + slot * 32;
  }
};

template <int kWave>
__device__ __forceinline__ TileOperand<kWave> load_piece(const std::uint16_t* at) {
  return reinterpret_cast<const Piece<kWave>*>(at)->tile;
}
template <int kWave>
__device__ __forceinline__ void store_piece(std::uint16_t* at, const TileOperand<kWave>& tile) {
  reinterpret_cast<Piece<kWave>*>(at)->tile = tile;
}

// A row-major operand as the column-major one of the transposed matrix, and the other way round.
template <int kWave>
__device__ __forceinline__ TileOperand<kWave> other_side(TileOperand<kWave> tile) {
  if constexpr (kWave == 32) {
    const std::uint32_t word = tile.word[1];
    tile.word[1] = tile.word[2];
    tile.word[2] = word;
  }
  return tile;
}

// A lane's values lie in 4 columns; value e in the column of slot tile_column_slot(e).
template <int kWave>
__device__ __forceinline__ constexpr int tile_column_slot(int e) {
  return kWave == 32 ? (e & 1) + e / 4 * 2 : e;
}
// The values of lanes 0 to 15 in the columns, or rows, of this lane's.
template <int kWave>
__device__ __forceinline__ void spread_columns(float mine, float (&value)[4]) {
#pragma unroll
  for (int i = 0; i < 4; ++i)
    value[i] = wave_shuffle<kWave>(mine, tile_column<kWave>(kWave == 32 ? i % 2 + i / 2 * 4 : i));
}
template <int kWave>
__device__ __forceinline__ void spread_rows(float mine, float (&value)[kTileRowSlots<kWave>]) {
#pragma unroll
  for (int slot = 0; slot < kTileRowSlots<kWave>; ++slot)
    value[slot] = wave_shuffle<kWave>(mine, tile_row<kWave>(2 * slot));
}

struct alignas(8) FloatPair {
  float x, y;
};

// Mean of 16 numbers of a row and the sum of their squared distances from it.
struct alignas(8) RowMoments {
  float mean, squares;
};

// What normalisation makes of a row: x * factor - shift.
struct alignas(8) RowNorm {
  float factor, shift;
};

// Of row lane % 16, from the means and squared distances of each tile of 16 columns.
template <class B>
__device__ __forceinline__ RowNorm norm_of_rows(const B& b, int row_tile) {
  constexpr int kWave = B::kWave, kApart = kWave / 16;
  const int n = b.part.n_tiles(), first = b.lane / 16;
  const auto* const at = reinterpret_cast<const RowMoments*>(b.stats) + row_tile * 16 + b.lane % 16;
  const float base = at[0].mean;
  float sum = 0, apart = 0, squares = 0;
  const auto add = [&](int tile) {
    const RowMoments m = at[tile * 16 * B::kRowTiles];
    const float mean = m.mean - base;
    sum += mean;
    apart += mean * mean;
    squares += m.squares;
  };
  constexpr int kTogether = 5 * kApart;  // the number of tiles is a multiple of 5
  int begin = 0;
#pragma unroll
  for (; begin + kTogether <= n; begin += kTogether) {
#pragma unroll
    for (int i = 0; i < 5; ++i) add(begin + i * kApart + first);
  }
  for (int tile = begin + first; tile < n; tile += kApart) add(tile);
#pragma unroll
  for (int mask = 16; mask < kWave; mask *= 2) {
    sum += wave_shuffle_xor<kWave>(sum, mask);
    apart += wave_shuffle_xor<kWave>(apart, mask);
    squares += wave_shuffle_xor<kWave>(squares, mask);
  }
  const float part = 1.0f / static_cast<float>(n);
  const float mean = sum * part;
  const float variance = (squares * (1.0f / 16) + (apart - sum * mean)) * part;
  const float factor = fast_rsqrt(variance + b.a.eps);
  return {factor, (mean + base) * factor};
}

// By one wave, for all of the block's: see norm_at().
template <class B>
__device__ __forceinline__ void find_norms(const B& b) {
#pragma unroll
  for (int r = 0; r < B::kRowTiles; ++r) {
    const RowNorm norm = norm_of_rows(b, r);
    if (b.lane < 16) reinterpret_cast<RowNorm*>(b.norms)[16 * r + b.lane] = norm;
  }
}
template <class B>
__device__ __forceinline__ RowNorm norm_at(const B& b, int row) {
  return reinterpret_cast<const RowNorm*>(b.norms)[row];
}

// Hands a tile of the block's own columns to all blocks of the group: its numbers times the weights
// of the normalisation that follows, as operands, and the moments of its rows.
template <class B>
__device__ __forceinline__ void share_tile(const B& b, int tile, int row_tile,
                                           const TileSum<B::kWave>& x, const float (&weights)[4]) {
  constexpr int kWave = B::kWave, kSlots = kTileRowSlots<kWave>;
  const auto add = [](float u, float v) { return u + v; };
  float mean[kSlots] = {}, squares[kSlots] = {};
  TileSum<kWave> y;
#pragma unroll
  for (int e = 0; e < TileSum<kWave>::kValues; ++e) {
    mean[tile_row_slot<kWave>(e)] += x.value[e];
    y.value[e] = x.value[e] * weights[tile_column_slot<kWave>(e)];
  }
#pragma unroll
  for (int slot = 0; slot < kSlots; ++slot)
    mean[slot] = reduce_tile_row<kWave>(mean[slot], add) * (1.0f / 16);
#pragma unroll
  for (int e = 0; e < TileSum<kWave>::kValues; ++e) {
    const int slot = tile_row_slot<kWave>(e);
    const float apart = x.value[e] - mean[slot];
    squares[slot] += apart * apart;
  }
#pragma unroll
  for (int slot = 0; slot < kSlots; ++slot)
    squares[slot] = reduce_tile_row<kWave>(squares[slot], add);
  const Piece<kWave> operand{operand_of_sum<kWave, B::kType>(y)};
  std::uint16_t* const at = b.at(b.y, tile, row_tile);
  // Lanes of the first columns have a row each.
  const int slot = kWave == 32 ? b.lane % 4 : b.lane / 16;
  const bool has_row = slot < kSlots;
  const RowMoments moments{slot == 0 ? mean[0] : mean[kSlots - 1],
                           slot == 0 ? squares[0] : squares[kSlots - 1]};
  float* const moments_at =
      b.stats + (tile * B::kRows + row_tile * 16 + tile_row<kWave>(has_row ? 2 * slot : 0)) * 2;
#pragma unroll
  for (int i = 1; i < kGroup; ++i) {
    const int peer = b.rooms.peer(i, kGroup);
    send_in_group(b.rooms, peer, at, __builtin_bit_cast(PieceBytes<kWave>, operand),
                  b.arrivals + kArrivalY);
    send_in_group(b.rooms, peer, moments_at, __builtin_bit_cast(Bytes8, moments),
                  b.arrivals + kArrivalY, has_row);
  }
  *reinterpret_cast<Piece<kWave>*>(at) = operand;
  if (has_row) *reinterpret_cast<RowMoments*>(moments_at) = moments;
  if (B::kGrouped) {
    wave_sync<kWave>();
    if (one_lane<kWave>()) arrive(b.arrivals + kArrivalY);
  }
}

// This lane's fp32 numbers of a tile of sums: kValues of them, in pieces of 4 so that a wave's lie
// side by side.
template <class B>
__device__ __forceinline__ float* sum_at(const B& b, float* tiles, int tile, int quarter) {
  return tiles + ((tile * (TileSum<B::kWave>::kValues / 4) + quarter) * B::kWave + b.lane) * 4;
}
template <class B>
__device__ __forceinline__ void add_sum(const B& b, float* tiles, int tile,
                                        TileSum<B::kWave>& sum) {
#pragma unroll
  for (int i = 0; i < TileSum<B::kWave>::kValues / 4; ++i) {
    const Float4 part = *reinterpret_cast<const Float4*>(sum_at(b, tiles, tile, i));
#pragma unroll
    for (int e = 0; e < 4; ++e) sum.value[4 * i + e] += part.value[e];
  }
}
template <class B>
__device__ __forceinline__ void store_sum(const B& b, float* tiles, int tile,
                                          const TileSum<B::kWave>& sum) {
#pragma unroll
  for (int i = 0; i < TileSum<B::kWave>::kValues / 4; ++i) {
    Float4 part;
#pragma unroll
    for (int e = 0; e < 4; ++e) part.value[e] = sum.value[4 * i + e];
    *reinterpret_cast<Float4*>(sum_at(b, tiles, tile, i)) = part;
  }
}

}  // namespace biogpu::gpu::esm2
