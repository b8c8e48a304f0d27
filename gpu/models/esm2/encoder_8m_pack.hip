// The weights of encoder_8m.hip in the order in which its waves read them.
//
// Shapes   packed[kGroup, kEncoderWaves, layer, batches, kBatch, W lanes]: operands of the matrix
//          cores; vectors[layer + 1, kGroup, vectors, 2, 16], the first layer's of the embedding.
// Mapping  one thread a lane's numbers of a tile, or a column of a vector.
// Traffic  done once a model.
// Result   exact copies; vectors summed in fp32, k ascending.
// Source   own.
// Oracle   the tests of ops.encoder_8m.
#include "gpu/models/esm2/encoder_8m_shape.hpp"
#include "gpu/prim/matrix_tile.hpp"
#include "gpu/rt/kernel.hpp"

namespace biogpu::gpu::esm2 {
namespace {

constexpr unsigned kBlock = 256;

// The row of the weights of q, k and v that stands in a column of a tile of q, k or v, or -1.
// Numbers of q and k that are rotated together lie 8 columns apart.
__host__ __device__ int qkv_row(const EncoderPart& part, int unit, int column) {
  const Encoder8mShape& shape = part.shape;
  const int head_tiles = part.head_tiles(), of_each = part.n_heads() * head_tiles;
  const int which = unit / of_each, of_which = unit % of_each;
  const int head_tile = of_which % head_tiles;
  const int first = which * shape.d + part.head(of_which / head_tiles) * shape.head;
  if (which == 2) {
    const int within = 16 * head_tile + column;
    return within < shape.head ? first + within : -1;
  }
  const int pair = 8 * head_tile + column % 8;
  if (pair >= shape.head / 2) return -1;
  return first + pair + (column >= 8 ? shape.head / 2 : 0);
}

// The number in column c of the result, at k, both within their tiles.
__device__ std::uint16_t weight_of(const EncoderWeights& w, const EncoderPart& part,
                                   EncoderStep step, const EncoderTurn& turn, int q, int c, int k) {
  const int d = part.shape.d, k_tile = turn.k_tile(q);
  if (step == EncoderStep::qkv) {
    const int row = qkv_row(part, turn.unit, c);
    return row < 0 ? 0 : w.qkv[std::int64_t{row} * d + 16 * k_tile + k];
  }
  if (step == EncoderStep::projection) {
    const int within = k_tile % part.head_tiles() * 16 + k, head = k_tile / part.head_tiles();
    if (within >= part.shape.head) return 0;
    const std::int64_t row = 16 * part.own_tile(turn.unit) + c;
    return w.projection[row * d + head * part.shape.head + within];
  }
  if (step == EncoderStep::up) {
    const std::int64_t row = 16 * (turn.unit * kGroup + part.rank) + c;
    return w.up[row * d + 16 * k_tile + k];
  }
  if (k_tile >= part.hidden_tiles()) return 0;  // what fills the last batch
  const std::int64_t row = 16 * turn.unit + c;
  return w.down[row * part.shape.d_ffn + 16 * (k_tile * kGroup + part.rank) + k];
}

template <int kWave>
__global__ __launch_bounds__(kBlock) void pack_kernel(Encoder8mShape shape, EncoderWeights w,
                                                      std::uint32_t* packed, int most, int layer) {
  constexpr int kWords = TileOperand<kWave>::kWords;
  const std::int64_t place = blockIdx.x * std::int64_t{kBlock} + threadIdx.x;
  const int lane = static_cast<int>(place % kWave);
  const int of_wave = static_cast<int>(place / kWave % (most * kBatch));
  const int wave = static_cast<int>(place / kWave / (most * kBatch));
  if (wave >= kGroup * kEncoderWaves) return;
  const EncoderPart part{shape, wave / kEncoderWaves, wave % kEncoderWaves};
  EncoderStep step = EncoderStep::qkv;
  for (const EncoderStep s : {EncoderStep::projection, EncoderStep::up, EncoderStep::down})
    if (part.batches_before(s) * kBatch <= of_wave) step = s;
  int q = of_wave - part.batches_before(step) * kBatch;  // tile of the turn
  EncoderTurn turn = part.turn(step, 0);
  if (step != EncoderStep::projection && turn.n_batches > 0) {
    // Of each two turns a batch of the first, then one of the second.
    const int of_pair = 2 * turn.n_batches, batch = q / kBatch;
    turn = part.turn(step, batch / of_pair * 2 + batch % 2);
    q = batch % of_pair / 2 * kBatch + q % kBatch;
  }
  turn.active = turn.active && q < turn.n_batches * kBatch;
  // The weights of v are the left operand: what comes out is transposed.
  const bool is_left = turn.active && step == EncoderStep::qkv &&
                       turn.unit >= 2 * part.n_heads() * part.head_tiles();
  const std::int64_t to =
      ((std::int64_t{wave} * shape.n_layers + layer) * most * kBatch + of_wave) * kWave + lane;
  for (int i = 0; i < kWords; ++i) {
    std::uint32_t pair = 0;
    if (turn.active) {
      // As load_tile_a() and load_tile_b() have them.
      const int high_c = is_left ? i % 2 : i / 2, high_k = is_left ? i / 2 : i % 2;
      const int c = kWave == 32 ? lane / 4 + 8 * high_c : lane % 16;
      const int k = kWave == 32 ? 2 * (lane % 4) + 8 * high_k : 4 * (lane / 16) + 2 * i;
      pair = weight_of(w, part, step, turn, q, c, k) |
             static_cast<std::uint32_t>(weight_of(w, part, step, turn, q, c, k + 1)) << 16;
    }
    packed[to * kWords + i] = pair;
  }
}

template <Number16 kType>
__global__ __launch_bounds__(kBlock) void pack_vectors_kernel(Encoder8mShape shape,
                                                              EncoderWeights w, float* vectors,
                                                              bool first_layer) {
  const EncoderPart any{shape, 0, 0};
  const int place = static_cast<int>(blockIdx.x * kBlock + threadIdx.x);
  const int c = place % 16, slot = place / 16 % any.vectors_of_layer();
  const EncoderPart part{shape, place / 16 / any.vectors_of_layer(), 0};
  if (part.rank >= kGroup) return;
  const int projection = any.vector_of(EncoderStep::projection, 0),
            up = any.vector_of(EncoderStep::up, 0), reduce = any.vector_of(EncoderStep::reduce, 0);
  // Of all layers' vectors, `vectors` points to this layer's, behind those in front of it.
  float* const of_first = vectors + ((part.rank - kGroup) * any.vectors_of_layer() + slot) * 32 + c;
  float* const to = vectors + (part.rank * any.vectors_of_layer() + slot) * 32 + c;
  if (slot >= reduce || (slot >= projection && slot < up)) {
    const int i = slot >= reduce ? slot - reduce : slot - projection;
    const int column = 16 * part.own_tile(i) + c;
    const bool exists = i < part.own_tiles();
    const float* const bias = slot >= reduce ? w.down_bias : w.projection_bias;
    const float* const weight = slot >= reduce ? w.next_norm_weight : w.ffn_norm_weight;
    to[0] = exists && bias != nullptr ? bias[column] : 0.0f;
    to[16] = exists ? weight[column] : 0.0f;
    if (first_layer && slot >= reduce)
      of_first[16] = exists ? w.attention_norm_weight[column] : 0.0f;
    return;
  }
  const bool is_up = slot >= up;
  const bool exists = slot - up < part.hidden_tiles();
  const int row = is_up && !exists          ? -1
                  : is_up                   ? 16 * ((slot - up) * kGroup + part.rank) + c
                  : slot < part.qkv_units() ? qkv_row(part, slot, c)
                                            : -1;
  const float* const bias = is_up ? w.up_bias : w.qkv_bias;
  const float* const norm_weight = is_up ? w.ffn_norm_weight : w.attention_norm_weight;
  const float* const norm_bias = is_up ? w.ffn_norm_bias : w.attention_norm_bias;
  float sum = 0, with_bias = row < 0 || bias == nullptr ? 0.0f : bias[row];
  for (int k = 0; row >= 0 && k < shape.d; ++k) {
    const float weight =
        number16_value<kType>((is_up ? w.up : w.qkv)[std::int64_t{row} * shape.d + k]);
    sum += weight * norm_weight[k];
    with_bias += weight * norm_bias[k];
  }
  to[0] = with_bias;
  to[16] = sum;
}

std::size_t layer_bytes(const Encoder8mShape& shape) {
  return static_cast<std::size_t>(kGroup * kEncoderWaves * EncoderPart{shape}.batches_of_layer() *
                                  kBatch * kTileBytes);
}
std::size_t layer_vectors(const Encoder8mShape& shape) {
  return static_cast<std::size_t>(kGroup * EncoderPart{shape}.vectors_of_layer() * 32);
}

}  // namespace

std::size_t encoder_weights_bytes(const Encoder8mShape& shape) {
  return layer_bytes(shape) * static_cast<std::size_t>(shape.n_layers);
}
std::size_t encoder_vectors_count(const Encoder8mShape& shape) {
  return layer_vectors(shape) * static_cast<std::size_t>(shape.n_layers + 1);
}

void launch_pack_small_weights(const Encoder8mShape& shape, int layer,
                               const EncoderWeights& weights, Number16 type, void* packed,
                               float* vectors, Stream& stream) {
  const int wave = stream.wave_width();
  const auto index = static_cast<std::size_t>(layer);
  auto* const to = static_cast<std::uint32_t*>(packed);
  const std::size_t n_places = layer_bytes(shape) / kTileBytes * static_cast<std::size_t>(wave);
  stream.launch(wave == 64 ? pack_kernel<64> : pack_kernel<32>,
                ceil_div(n_places, std::size_t{kBlock}), kBlock, shape, weights, to,
                EncoderPart{shape}.batches_of_layer(), layer);
  stream.launch(type == Number16::fp16 ? pack_vectors_kernel<Number16::fp16>
                                       : pack_vectors_kernel<Number16::bf16>,
                ceil_div(layer_vectors(shape) / 2, std::size_t{kBlock}), kBlock, shape, weights,
                vectors + (index + 1) * layer_vectors(shape), layer == 0);
}

}  // namespace biogpu::gpu::esm2
