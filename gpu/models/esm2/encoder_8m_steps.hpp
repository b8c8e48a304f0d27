#pragma once

// The steps of a layer of encoder_8m.hip behind their products, each by one wave or by a block.

#include "gpu/models/esm2/encoder_8m_attention.hpp"
#include "gpu/ops/gelu.hpp"

namespace biogpu::gpu::esm2 {

// Numbers of a tile's columns, or of its rows where it is transposed, as this lane needs them.
template <int kWave>
union SpreadVector {
  float of_columns[4];
  float of_rows[kTileRowSlots<kWave>];
};

// Works the normalisation of x's rows into a sum over them, and adds the bias; bias and weight_sum
// are of the weights' columns. kTransposed: the tile's columns are x's rows.
template <class B, bool kTransposed>
__device__ __forceinline__ void normalise_sum(const B& b, int row_tile,
                                              const SpreadVector<B::kWave>& bias,
                                              const SpreadVector<B::kWave>& weight_sum,
                                              TileSum<B::kWave>& sum) {
  constexpr int kWave = B::kWave, kSlots = kTileRowSlots<kWave>;
  RowNorm norm[kTransposed ? 4 : kSlots];
#pragma unroll
  for (int e = 0; e < TileSum<kWave>::kValues; ++e) {
    const int slot = kTransposed ? tile_column_slot<kWave>(e) : tile_row_slot<kWave>(e);
    norm[slot] =
        norm_at(b, 16 * row_tile + (kTransposed ? tile_column<kWave>(e) : tile_row<kWave>(e)));
  }
#pragma unroll
  for (int e = 0; e < TileSum<kWave>::kValues; ++e) {
    const int row = tile_row_slot<kWave>(e), column = tile_column_slot<kWave>(e);
    const RowNorm& token = norm[kTransposed ? column : row];
    const float shift = kTransposed
                            ? bias.of_rows[row] - token.shift * weight_sum.of_rows[row]
                            : bias.of_columns[column] - token.shift * weight_sum.of_columns[column];
    sum.value[e] = sum.value[e] * token.factor + shift;
  }
}

// The angles of this lane's pairs in a tile of q or k.
struct Angles {
  Float4 cosine, sine;
};
template <class B>
__device__ __forceinline__ Angles* angles_at(const B& b, int row_tile, int head_tile) {
  return reinterpret_cast<Angles*>(b.angles) + (head_tile * B::kRowTiles + row_tile) * B::kWave +
         b.lane;
}
template <class B>
__device__ __forceinline__ int pair_of(int head_tile, int e) {
  return 8 * head_tile + tile_column<B::kWave>(e) % 8;
}
template <class B>
__device__ __forceinline__ void copy_angles(const B& b) {
  const int head = b.part.shape.head;
  if (b.a.cos_sin == nullptr) return;
  for (int i = b.part.wave; i < B::kHeadTiles * B::kRowTiles; i += kEncoderWaves) {
    const int head_tile = i / B::kRowTiles, row_tile = i % B::kRowTiles;
    Angles angles = {};
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const int row = 16 * row_tile + tile_row<B::kWave>(e), pair = pair_of<B>(head_tile, e);
      if (row >= b.n_rows || pair >= head / 2) continue;
      const float* const of_row = b.a.cos_sin + (b.position + row) * head + pair;
      angles.cosine.value[e] = of_row[0];
      angles.sine.value[e] = of_row[head / 2];
    }
    *angles_at(b, row_tile, head_tile) = angles;
  }
}

// Rotates a tile of q or k, whose partners lie 8 columns apart: in one lane of 32, in two of 64.
template <class B>
__device__ __forceinline__ void rotate_tile(const Angles& angles, TileSum<B::kWave>& sum) {
  constexpr int kOther = B::kWave == 32 ? 4 : 0;
#pragma unroll
  for (int e = 0; e < 4; ++e) {
    const float mine = sum.value[e];
    const float other =
        B::kWave == 32 ? sum.value[e + kOther] : wave_shuffle_xor<B::kWave>(mine, B::kWave / 2);
    const float cosine = angles.cosine.value[e], sine = angles.sine.value[e];
    if constexpr (B::kWave == 32) {
      sum.value[e] = mine * cosine - other * sine;
      sum.value[e + kOther] = other * cosine + mine * sine;
    } else {
      sum.value[e] = mine * cosine + (tile_column<B::kWave>(e) < 8 ? -other : other) * sine;
    }
  }
}

// What a tile of a block's q, k and v is.
struct QkvPlace {
  int which;     // 0: q, 1: k, 2: v
  int of_which;  // its number among those of q, k or v
  int head, head_tile;
};
template <class B>
__device__ __forceinline__ QkvPlace qkv_place(const B& b, int unit) {
  const int n_tiles = b.role.n_heads * B::kHeadTiles;
  const int which = unit < n_tiles ? 0 : unit < 2 * n_tiles ? 1 : 2;
  const int of_which = unit - which * n_tiles;
  return {which, of_which, b.part.head(of_which / B::kHeadTiles), of_which % B::kHeadTiles};
}

template <class B>
__device__ __forceinline__ void finish_qkv(const B& b, int layer, const QkvPlace& place,
                                           const SpreadVector<B::kWave>& bias,
                                           const SpreadVector<B::kWave>& weight_sum,
                                           const Angles (&angles)[B::kRowTiles],
                                           TileSum<B::kWave> (&sum)[B::kRowTiles]) {
  constexpr int kWave = B::kWave;
#pragma unroll
  for (int r = 0; r < B::kRowTiles; ++r) {
    if (place.which == 2) {
      normalise_sum<B, true>(b, r, bias, weight_sum, sum[r]);
    } else {
      normalise_sum<B, false>(b, r, bias, weight_sum, sum[r]);
      if (b.a.cos_sin != nullptr) rotate_tile<B>(angles[r], sum[r]);
    }
    const TileOperand<kWave> tile = operand_of_sum<kWave, B::kType>(sum[r]);
    if (place.which == 0) {
      store_piece<kWave>(b.at(b.q, place.of_which, r), tile);
      continue;
    }
    const int kind = (place.which - 1) * B::kHeadTiles + place.head_tile;
    const int index = key_index(b, place.head, kind) + b.first_tile + b.position / 16 + r;
    TileOperand<kWave> key = other_side<kWave>(tile);
    post_words(key_tile(b, layer, index), key.word);
  }
}

// The block's own tile `unit` of the residual stream while a sum is on its way: with the bias that
// goes with the sum, and the weights of the normalisation behind.
template <class B>
struct GrowingTile {
  TileSum<B::kWave> x[B::kRowTiles];
  float weights[4];
};
template <class B>
__device__ __forceinline__ GrowingTile<B> load_tile(const B& b, int unit, float bias,
                                                    float weight) {
  GrowingTile<B> tile = {};
  float biases[4];
  spread_columns<B::kWave>(bias, biases);
  spread_columns<B::kWave>(weight, tile.weights);
#pragma unroll
  for (int r = 0; r < B::kRowTiles; ++r) {
#pragma unroll
    for (int e = 0; e < TileSum<B::kWave>::kValues; ++e)
      tile.x[r].value[e] = biases[tile_column_slot<B::kWave>(e)];
    add_sum(b, b.x, unit * B::kRowTiles + r, tile.x[r]);
  }
  return tile;
}
// The sum added: kept and shared.
template <class B>
__device__ __forceinline__ void grow_tile(const B& b, int unit, int row_tile,
                                          const GrowingTile<B>& tile, TileSum<B::kWave>& sum) {
#pragma unroll
  for (int e = 0; e < TileSum<B::kWave>::kValues; ++e) sum.value[e] += tile.x[row_tile].value[e];
  store_sum(b, b.x, unit * B::kRowTiles + row_tile, sum);
  share_tile(b, b.part.own_tile(unit), row_tile, sum, tile.weights);
}

template <class B>
__device__ __forceinline__ void finish_projection(const B& b, const EncoderTurn& turn, float bias,
                                                  float weight,
                                                  TileSum<B::kWave> (&sum)[B::kRowTiles]) {
  const int own = b.part.own_most();
  if (turn.active && turn.first > 0) {
#pragma unroll
    for (int r = 0; r < B::kRowTiles; ++r)
      store_sum(b, b.sums, (turn.first * own + turn.unit) * B::kRowTiles + r, sum[r]);
  }
  __syncthreads();
  if (!turn.active || turn.first > 0) return;
  const GrowingTile<B> tile = load_tile(b, turn.unit, bias, weight);
#pragma unroll
  for (int r = 0; r < B::kRowTiles; ++r) {
    for (int split = 1; split < turn.apart; ++split)
      add_sum(b, b.sums, (split * own + turn.unit) * B::kRowTiles + r, sum[r]);
    grow_tile(b, turn.unit, r, tile, sum[r]);
  }
}

template <class B>
__device__ __forceinline__ void finish_up(const B& b, int unit, const SpreadVector<B::kWave>& bias,
                                          const SpreadVector<B::kWave>& weight_sum,
                                          TileSum<B::kWave> (&sum)[B::kRowTiles]) {
#pragma unroll
  for (int r = 0; r < B::kRowTiles; ++r) {
    normalise_sum<B, false>(b, r, bias, weight_sum, sum[r]);
#pragma unroll
    for (int e = 0; e < TileSum<B::kWave>::kValues; ++e)
      sum[r].value[e] = gelu_to_16_bits(sum[r].value[e]);
    store_piece<B::kWave>(b.at(b.mixed, unit, r), operand_of_sum<B::kWave, B::kType>(sum[r]));
  }
}

// This block's part of the sum of a tile, to the block that keeps the tile. If it is this one, a
// barrier of the block is to follow.
template <class B>
__device__ __forceinline__ void send_part(const B& b, int tile,
                                          const TileSum<B::kWave> (&sum)[B::kRowTiles]) {
#pragma unroll
  for (int r = 0; r < B::kRowTiles; ++r) {
    const int at =
        (b.part.rank * b.part.own_most() + EncoderPart::place_of(tile)) * B::kRowTiles + r;
    if (EncoderPart::owner_of(tile) == b.part.rank) {
      store_sum(b, b.sums, at, sum[r]);
      continue;
    }
#pragma unroll
    for (int i = 0; i < TileSum<B::kWave>::kValues / 4; ++i) {
      Float4 part;
#pragma unroll
      for (int e = 0; e < 4; ++e) part.value[e] = sum[r].value[4 * i + e];
      send_in_group(b.rooms, EncoderPart::owner_of(tile), sum_at(b, b.sums, at, i),
                    __builtin_bit_cast(Bytes16, part), b.arrivals + kArrivalSums);
    }
  }
}

template <class B>
__device__ __forceinline__ void run_reduce(const B& b, const GrowingTile<B>& tile) {
  const int own = b.part.own_most();
  const int kept = b.part.kept_tile();
#pragma unroll
  for (int r = 0; r < B::kRowTiles; ++r) {
    TileSum<B::kWave> sum = {};
#pragma unroll
    for (int rank = 0; rank < kGroup; ++rank)
      add_sum(b, b.sums, (rank * own + kept) * B::kRowTiles + r, sum);
    grow_tile(b, kept, r, tile, sum);
  }
}

// visit(row of the group, column, index of the first of two values) for a tile's pairs.
template <int kWave, class Visit>
__device__ __forceinline__ void each_pair(int tile, int row_tile, Visit&& visit) {
#pragma unroll
  for (int e = 0; e < TileSum<kWave>::kValues; e += 2)
    visit(16 * row_tile + tile_row<kWave>(e), 16 * tile + tile_column<kWave>(e), e);
}
// The tile that the wave keeps, of the embedded tokens.
template <class B>
__device__ __forceinline__ void load_embedded(const B& b, TileSum<B::kWave> (&x)[B::kRowTiles]) {
  const int d = b.part.shape.d;
#pragma unroll
  for (int r = 0; r < B::kRowTiles; ++r) {
    x[r] = {};
    each_pair<B::kWave>(b.part.own_tile(b.part.kept_tile()), r, [&](int row, int column, int e) {
      if (row >= b.n_rows) return;
      const std::int64_t id = b.a.ids[b.token + row];
      const float scale = b.a.scale != nullptr ? b.a.scale[b.token + row] : 1.0f;
      const auto pair = *reinterpret_cast<const FloatPair*>(b.a.table + id * d + column);
      x[r].value[e] = pair.x * scale;
      x[r].value[e + 1] = pair.y * scale;
    });
  }
}
template <class B>
__device__ __forceinline__ void share_embedded(const B& b, float weight,
                                               const TileSum<B::kWave> (&x)[B::kRowTiles]) {
  const int kept = b.part.kept_tile();
  float weights[4];
  spread_columns<B::kWave>(weight, weights);
#pragma unroll
  for (int r = 0; r < B::kRowTiles; ++r) {
    store_sum(b, b.x, kept * B::kRowTiles + r, x[r]);
    share_tile(b, b.part.own_tile(kept), r, x[r], weights);
  }
}

template <class B>
__device__ __forceinline__ void run_finish(const B& b, float bias, float weight) {
  constexpr int kWave = B::kWave;
  const int kept = b.part.kept_tile(), tile = b.part.own_tile(kept);
#pragma unroll
  for (int r = 0; r < B::kRowTiles; ++r) {
    const RowNorm norm = norm_of_rows(b, r);
    float factor[kTileRowSlots<kWave>], shift[kTileRowSlots<kWave>];
    spread_rows<kWave>(norm.factor, factor);
    spread_rows<kWave>(norm.shift, shift);
    float biases[4], weights[4];
    spread_columns<kWave>(bias, biases);
    spread_columns<kWave>(weight, weights);
    TileSum<kWave> x = {};
    add_sum(b, b.x, kept * B::kRowTiles + r, x);
    each_pair<kWave>(tile, r, [&](int row, int column, int e) {
      if (row >= b.n_rows) return;
      const int slot = tile_row_slot<kWave>(e);
      float value[2];
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int of_column = tile_column_slot<kWave>(e + i);
        value[i] =
            (x.value[e + i] * factor[slot] - shift[slot]) * weights[of_column] + biases[of_column];
      }
      const std::int64_t token = b.token + row;
      *reinterpret_cast<FloatPair*>(static_cast<float*>(b.a.out.data) + token * b.a.out.stride +
                                    column) = {value[0], value[1]};
      *reinterpret_cast<std::uint32_t*>(static_cast<std::uint16_t*>(b.a.out_operand.data) +
                                        token * b.a.out_operand.stride + column) =
          number16_pair<B::kType>(value[0], value[1]);
    });
  }
}

// Bytes that the block gets from others for one use of an arrival.
template <class B>
__device__ __forceinline__ std::uint32_t bytes_of(const B& b, EncoderArrival kind) {
  const int own = b.part.own_tiles(), own_heads = b.role.n_heads * B::kHeadTiles;
  const int n = kind == kArrivalY       ? (b.part.n_tiles() - own) * (kTileBytes + 16 * 8)
                : kind == kArrivalMixed ? (b.part.mixed_tiles() - own_heads) * kTileBytes
                                        : own * (kGroup - 1) * 2 * kTileBytes;
  return static_cast<std::uint32_t>(n * B::kRowTiles);
}

// Waits for what the step reads: of the block's own threads, or of the group.
template <class B, EncoderStep kStep>
__device__ __forceinline__ void await_others(const B& b, int layer) {
  if constexpr (kStep == EncoderStep::attend || kStep == EncoderStep::down) {
    __syncthreads();
  } else if constexpr (B::kGrouped) {
    constexpr EncoderArrival kKind = kStep == EncoderStep::projection ? kArrivalMixed
                                     : kStep == EncoderStep::reduce   ? kArrivalSums
                                                                      : kArrivalY;
    const bool odd = kKind == kArrivalY ? kStep == EncoderStep::up : layer % 2 == 1;
    await_arrival(b.arrivals + kKind, odd ? 1 : 0);
    const bool is_first = kStep == EncoderStep::reduce ? b.part.kept_tile() == 0 : b.part.wave == 0;
    if (is_first && one_lane<B::kWave>()) expect_arrival(b.arrivals + kKind, bytes_of(b, kKind));
  }
}

}  // namespace biogpu::gpu::esm2
