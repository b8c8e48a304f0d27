#pragma once

#include <cstdint>

#include "gpu/ops/elements.hpp"
#include "gpu/rt/stream.hpp"

namespace biogpu::gpu::ops {

// What both kernels that multiply rows of pairs read: pairs (i, k) of n tokens, normalised, and two
// products of each, a value and its gate.
struct GatedRowsArgs {
  int n = 0, pitch = 0;     // pairs lie as [n, pitch], one channel behind the other
  int n_out = 0;            // channels of the result: whole chunks of 64
  const void* z = nullptr;  // [n * n, c], contiguous
  const float* weight_in = nullptr;
  const float* bias_in = nullptr;
  float eps_in = 0;
  const float* value_bias = nullptr;  // or nullptr
  const float* gate_bias = nullptr;   // or nullptr
  // Sides.
  const float* mask = nullptr;  // [n, n], or nullptr
  // Updates.
  float eps_out = 0;
  const float* weight_sums = nullptr;  // of the value's weights, for each channel
  Rows residual, out;
};

// Operands are bf16.
struct TriangleProductArgs {
  int n = 0, c = 0;
  bool outgoing = true, wide_pairs = true;  // pairs in fp32
  const void* z = nullptr;
  const float* mask = nullptr;
  const float *weight_in = nullptr, *bias_in = nullptr, *weight_out = nullptr, *bias_out = nullptr;
  float eps_in = 0, eps_out = 0;
  const std::uint16_t* projections = nullptr;  // [5 c, c]: a, b, gates of both, gate
  const float* projection_bias = nullptr;      // [5 c], or nullptr
  const std::uint16_t* map_out = nullptr;      // [c, c]
  const float* map_out_bias = nullptr;         // [c], or nullptr
  Rows residual, out;                          // of z's type; no residual: nullptr
  // For what lies between, aligned to 128 bytes.
  std::uint16_t* sides = nullptr;   // [2 c, n, pitch]
  std::uint16_t* sums = nullptr;    // [c, n, pitch]
  std::uint16_t* folded = nullptr;  // [c, c]
  float* vectors = nullptr;         // [kVectors, c]

  static constexpr int kVectors = 2;
  // Numbers from a row of a channel's matrix to the next: whole 16 bytes.
  int pitch() const { return (n + 7) / 8 * 8; }
};

// Triangle multiplication on Hopper's warpgroup products. False where they do not suit, and then
// nothing but memory for what lies between is written: no such device, other than 64, 128 or 256
// channels, or rows that are not aligned.
bool launch_triangle_product_warpgroup(const TriangleProductArgs& args, Stream& stream);

// Its parts, for measuring each alone; products also fold a norm for the update. Tiles of channel
// products: the widest has 256 rows and is computed by two warpgroups together.
enum class ChannelTiles : std::uint8_t { columns_128, columns_192, rows_256 };
ChannelTiles channel_tiles_for(int n);
bool launch_triangle_sides(const TriangleProductArgs& args, Stream& stream);
bool launch_channel_products(const TriangleProductArgs& args, ChannelTiles tiles, Stream& stream);
bool launch_triangle_update(const TriangleProductArgs& args, Stream& stream);

}  // namespace biogpu::gpu::ops
