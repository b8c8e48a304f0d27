// A weight as pairs of fp16 numbers in the order in which the lanes of a wave hold them.
//
// Shapes   weight[kHidden, n_in] f32; words[kHidden / 16][n_steps][high, low][lanes][words].
// Mapping  a block of one wave for each 16 x 16 piece.
// Traffic  4 bytes a weight in and out; once for each model.
// Result   22 bits of each weight.
// Source   own.
// Oracle   edge_message_ref, lib/models/proteinmpnn/ops/edge_message_ref.cpp.
#include "gpu/models/proteinmpnn/edge_weights.hpp"

#include "gpu/models/proteinmpnn/edge_product.hpp"
#include "gpu/rt/kernel.hpp"

namespace biogpu::gpu::proteinmpnn::edges {
namespace {

constexpr int kStride = 24;

struct alignas(16) Piece {
  std::uint16_t high[16 * kStride];
  std::uint16_t low[16 * kStride];
};

template <int kWave>
__global__ void pack_kernel(const float* weight, int n_in, int n_steps, std::uint32_t* words) {
  constexpr int kWords = TileOperand<kWave>::kWords;
  __shared__ Piece shared;
  std::uint16_t* const high = shared.high;
  std::uint16_t* const low = shared.low;
  const int piece = static_cast<int>(blockIdx.x);
  const int column = piece / n_steps * 16, k = piece % n_steps * 16;
  for (int i = 2 * static_cast<int>(threadIdx.x); i < 256; i += 2 * kWave) {
    const int row = i / 16, step = k + i % 16;
    const float* const from = weight + static_cast<std::int64_t>(column + row) * n_in;
    const SplitPair pair = split_pair<Number16::fp16>(step < n_in ? from[step] : 0.0f,
                                                      step + 1 < n_in ? from[step + 1] : 0.0f);
    *reinterpret_cast<std::uint32_t*>(high + row * kStride + i % 16) = pair.high;
    *reinterpret_cast<std::uint32_t*>(low + row * kStride + i % 16) = pair.low;
  }
  __syncthreads();
  const TileOperand<kWave> of_high = load_tile_b<kWave>(high, kStride);
  const TileOperand<kWave> of_low = load_tile_b<kWave>(low, kStride);
  std::uint32_t* const to =
      words + static_cast<std::int64_t>(piece) * kPieceWords + wave_lane<kWave>() * kWords;
  for (int w = 0; w < kWords; ++w) {
    to[w] = of_high.word[w];
    to[kPieceWords / 2 + w] = of_low.word[w];
  }
}

}  // namespace

int pack_steps(int n_in) { return ceil_div(ceil_div(n_in, 16), kAhead) * kAhead; }

std::size_t pack_words(int n_in) {
  return static_cast<std::size_t>(kHidden / 16 * pack_steps(n_in)) * kPieceWords;
}

void launch_pack(const float* weight, int n_in, std::uint32_t* words, Stream& stream) {
  const int n_steps = pack_steps(n_in);
  with_matrix_wave(stream.wave_width(), [&](auto wave) {
    stream.launch(pack_kernel<wave()>, static_cast<std::size_t>(kHidden / 16 * n_steps), wave(),
                  weight, n_in, n_steps, words);
  });
}

}  // namespace biogpu::gpu::proteinmpnn::edges
