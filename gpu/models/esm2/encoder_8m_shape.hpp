#pragma once

// Who computes what in encoder_8m.hip, and in which order its weights lie.

#include "gpu/models/esm2/encoder_8m.hpp"
#include "gpu/prim/async_copy.hpp"
#include "gpu/rt/hip.hpp"

namespace biogpu::gpu::esm2 {

inline constexpr int kGroup = 6;          // blocks that share the tokens of a group
inline constexpr int kEncoderWaves = 16;  // of a block
inline constexpr int kBatch = 5;          // tiles of weights that a wave loads at once
inline constexpr int kPlaced = 4;         // batches that a wave has room for in shared memory
inline constexpr int kHeldBatches = 1;    // of them, that it reads before it waits for the others
inline constexpr int kTileBytes = 512;    // of 16 x 16 numbers, for any width of a wave
inline constexpr int kKeyParts = 4;       // waves that share the keys of a head
inline constexpr int kKeyTiles = 4;       // of 16 keys, that a wave takes at once

// What a launch consists of: one embedding, six steps a layer, one end.
enum class EncoderStep { embed, qkv, attend, projection, up, down, reduce, finish };
inline constexpr int kStepsOfLayer = 6;
__host__ __device__ constexpr int encoder_steps(const Encoder8mShape& shape) {
  return 2 + kStepsOfLayer * shape.n_layers;
}

// Items i of [0, n) with i % by == first.
__host__ __device__ constexpr int count_of(int n, int first, int by) {
  return n > first ? (n - first + by - 1) / by : 0;
}

// A wave's share of a product: a tile of 16 columns over some of the batches of k. But for the
// projection, shares come in pairs over the same batches, for which a wave reads x once.
struct EncoderTurn {
  bool active = false;
  int unit = 0;              // number of the tile among the block's, or, of `down`, among all
  int n_batches = 0;         // of weights
  int first = 0, apart = 1;  // batches of k

  __host__ __device__ constexpr int k_batch(int i) const { return first + i * apart; }
  // Tile along k of the turn's tile number q of weights.
  __host__ __device__ constexpr int k_tile(int q) const {
    return k_batch(q / kBatch) * kBatch + q % kBatch;
  }
};

// The part of a block, and of one of its waves. Tiles are 16 columns of a result.
struct EncoderPart {
  Encoder8mShape shape;
  int rank = 0, wave = 0;

  __host__ __device__ constexpr int n_tiles() const { return shape.d / 16; }
  __host__ __device__ constexpr int head_tiles() const { return (shape.head + 15) / 16; }

  // Columns of the residual stream: more of them where there are fewer heads.
  __host__ __device__ constexpr int own_most() const { return (n_tiles() + kGroup - 1) / kGroup; }
  __host__ __device__ constexpr int own_tiles() const {
    return count_of(n_tiles(), kGroup - 1 - rank, kGroup);
  }
  __host__ __device__ constexpr int own_tile(int i) const { return i * kGroup + kGroup - 1 - rank; }
  // Of the block's own tiles the one that the wave keeps, or another number: of the waves that have
  // the least of qkv to multiply.
  __host__ __device__ constexpr int kept_tile() const { return kEncoderWaves - 2 - wave; }
  __host__ __device__ constexpr bool keeps_tile() const {
    return kept_tile() >= 0 && kept_tile() < own_tiles();
  }
  __host__ __device__ static constexpr int owner_of(int tile) { return kGroup - 1 - tile % kGroup; }
  __host__ __device__ static constexpr int place_of(int tile) { return tile / kGroup; }

  __host__ __device__ constexpr int n_heads() const {
    return count_of(shape.n_heads, rank, kGroup);
  }
  __host__ __device__ constexpr int head(int i) const { return i * kGroup + rank; }
  __host__ __device__ constexpr int qkv_units() const { return 3 * n_heads() * head_tiles(); }
  __host__ __device__ constexpr int hidden_tiles() const {
    return count_of(shape.d_ffn / 16, rank, kGroup);
  }
  __host__ __device__ constexpr int mixed_tiles() const { return shape.n_heads * head_tiles(); }
  __host__ __device__ constexpr int splits() const { return kEncoderWaves / own_most(); }

  // The wave's i-th share of the step's product.
  __host__ __device__ constexpr EncoderTurn turn(EncoderStep step, int i) const {
    EncoderTurn t;
    switch (step) {
      case EncoderStep::qkv:
      case EncoderStep::up:
        // Two waves share a pair, with half of k each.
        t.unit = 2 * (wave / 2 + i / 2 * (kEncoderWaves / 2)) + i % 2;
        t.active = t.unit < (step == EncoderStep::up ? hidden_tiles() : qkv_units());
        t.first = wave % 2;
        t.apart = 2;
        t.n_batches = count_of(n_tiles() / kBatch, t.first, t.apart);
        break;
      case EncoderStep::projection:
        // The last waves, most of which have the least of `up` to do, bring the parts together.
        t.unit = wave % own_most();
        t.first = splits() - 1 - wave / own_most();
        t.apart = splits();
        t.active = i == 0 && t.unit < own_tiles() && t.first >= 0;
        t.n_batches = count_of(mixed_tiles() / kBatch, t.first, t.apart);
        break;
      case EncoderStep::down:
        t.unit = 2 * (wave + i / 2 * kEncoderWaves) + i % 2;
        t.active = t.unit < n_tiles();
        t.n_batches = (EncoderPart{shape}.hidden_tiles() + kBatch - 1) / kBatch;  // in all blocks
        break;
      default:
        break;
    }
    return t;
  }

  // Batches of weights that a wave has room for in a step, and in a layer before it.
  __host__ __device__ constexpr int batches(EncoderStep step) const {
    if (step == EncoderStep::projection) return count_of(mixed_tiles() / kBatch, 0, splits());
    const EncoderPart most{shape, 0, 0};
    int n = 0;
    for (int i = 0;; i += 2) {
      const EncoderTurn t = most.turn(step, i);
      if (!t.active) return n;
      n += 2 * t.n_batches;
    }
  }
  __host__ __device__ constexpr int batches_before(EncoderStep step) const {
    int sum = 0;
    if (step > EncoderStep::qkv) sum += batches(EncoderStep::qkv);
    if (step > EncoderStep::projection) sum += batches(EncoderStep::projection);
    if (step > EncoderStep::up) sum += batches(EncoderStep::up);
    if (step > EncoderStep::down) sum += batches(EncoderStep::down);
    return sum;
  }
  __host__ __device__ constexpr int batches_of_layer() const {
    return batches_before(EncoderStep::finish);
  }

  // Pairs of 16 numbers that go with a layer's tiles: for qkv and up the bias and the sum of the
  // column's weights, both with the normalisation in front worked in; for projection and reduce the
  // bias and the weight of the normalisation behind.
  __host__ __device__ constexpr int vector_of(EncoderStep step, int unit) const {
    const int n_qkv = EncoderPart{shape}.qkv_units();
    return step == EncoderStep::qkv          ? unit
           : step == EncoderStep::projection ? n_qkv + unit
           : step == EncoderStep::up
               ? n_qkv + own_most() + unit
               : n_qkv + own_most() + EncoderPart{shape}.hidden_tiles() + unit;
  }
  __host__ __device__ constexpr int vectors_of_layer() const {
    return vector_of(EncoderStep::reduce, own_most());
  }
};

// Of a tile's angles, 8 numbers a lane of the widest wave there is.
inline constexpr int kAngleBytes = (kHasAsyncCopies ? 32 : 64) * 8 * 4;

// Bytes of a block's room, from its beginning: operands of the products as their lanes hold them,
// [tile of k, tile of rows, lane]. `halves` are sums of `up` over half of k: queries may lie there,
// but nothing that others send.
struct EncoderRoom {
  int x, y, stats, norms, mixed, sums, halves, q, angles, total;
};

__host__ __device__ constexpr EncoderRoom room_of(const Encoder8mShape& shape) {
  const EncoderPart first{shape, 0, 0};
  const auto larger = [](int a, int b) { return a > b ? a : b; };
  EncoderRoom room{};
  room.y = room.x + first.own_most() * 2 * kTileBytes;
  room.stats = room.y + first.n_tiles() * kTileBytes;
  room.norms = room.stats + first.n_tiles() * 16 * 8;
  room.mixed = room.norms + 16 * 8;
  // The feed-forward half's hidden numbers lie in the same place.
  const int hidden = (first.hidden_tiles() + kBatch - 1) / kBatch * kBatch;
  room.sums = room.mixed + larger(first.mixed_tiles(), hidden) * kTileBytes;
  // Sums of all blocks for the own tiles; before, of waves that share a tile or a head.
  const int of_group = kGroup * first.own_most() * 2 * kTileBytes;
  const int of_waves = kEncoderWaves * 2 * kTileBytes;
  const int of_heads = kEncoderWaves * (first.head_tiles() + 1) * 2 * kTileBytes;
  room.halves = room.sums + of_group;
  room.q = room.sums + larger(of_group, larger(of_waves, of_heads));
  const int n_halves = first.hidden_tiles() < kEncoderWaves ? first.hidden_tiles() : kEncoderWaves;
  room.angles = larger(room.q + first.n_heads() * first.head_tiles() * kTileBytes,
                       room.halves + n_halves * 2 * kTileBytes);
  room.total = room.angles + first.head_tiles() * kAngleBytes;
  return room;
}

// What a block gets from others of its group: x for the next product, heads, parts of sums.
enum EncoderArrival { kArrivalY, kArrivalMixed, kArrivalSums, kArrivals };

// Of blocks in groups: bytes of the weights behind the room, in shared memory, and of all with the
// arrivals behind them.
inline constexpr int kWeightsBytes = kEncoderWaves * kPlaced * kBatch * kTileBytes;
__host__ __device__ constexpr int shared_bytes(const Encoder8mShape& shape) {
  return room_of(shape).total + kWeightsBytes + 8 * (2 * kEncoderWaves + kArrivals);
}

inline constexpr int kMaxGroups = 24;
inline constexpr int kMaxTiles = kMaxGroups;  // of 16 tokens

// Keys and values cross groups in tiles that are absent until they are posted: those of three
// layers by turns, and of two launches by turns. A layer's are cleared by the next layer, and those
// of a launch by the next launch.
inline constexpr int kKeyTurns = 3, kKeySets = 2;
__host__ __device__ constexpr int layer_key_tiles(const Encoder8mShape& shape) {
  return 2 * EncoderPart{shape}.mixed_tiles() * kMaxTiles;
}
__host__ __device__ constexpr int key_tiles(const Encoder8mShape& shape) {
  return kKeyTurns * layer_key_tiles(shape);
}

// Bytes of the launch's room in device memory, from its beginning: a counter of launches first, and
// the blocks' rooms where they have no groups.
struct EncoderDeviceRoom {
  std::size_t keys, rooms, total;
};
__host__ __device__ constexpr EncoderDeviceRoom device_room_of(const Encoder8mShape& shape,
                                                               int n_groups, bool grouped) {
  const auto tiles = static_cast<std::size_t>(kKeySets * key_tiles(shape));
  EncoderDeviceRoom room{};
  room.keys = 128;
  room.rooms = room.keys + tiles * kTileBytes;
  room.total = room.rooms;
  if (!grouped)
    room.total += static_cast<std::size_t>(n_groups * kGroup) *
                  static_cast<std::size_t>(room_of(shape).total);
  return room;
}

}  // namespace biogpu::gpu::esm2
